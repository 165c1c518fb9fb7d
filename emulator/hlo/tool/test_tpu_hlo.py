"""The tpu-hlo program's command line: exit codes, messages, forms."""

import os
import subprocess

import pytest

TOOL = os.environ.get("TPU_HLO_TOOL")
pytestmark = pytest.mark.skipif(not TOOL, reason="TPU_HLO_TOOL does not name the tpu-hlo program")

PROGRAM = """module @double {
  func.func public @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


def run(*arguments, text=""):
    command = [TOOL, *arguments]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def test_prints_a_program_from_the_standard_input():
    result = run("--parse", "-", text=PROGRAM)
    assert (result.returncode, result.stdout, result.stderr) == (0, PROGRAM, "")


def test_prints_a_file_in_generic_form(tmp_path):
    path = tmp_path / "double.mlir"
    path.write_text(PROGRAM)
    result = run("--parse", path, "--form", "generic")
    assert result.returncode == 0
    assert '%0 = "stablehlo.add"(%arg0, %arg0)' in result.stdout
    assert run("--parse", "-", text=result.stdout).stdout == PROGRAM


def test_an_error_in_the_program_is_exit_code_1():
    result = run("--parse", "-", text=PROGRAM.replace("add", "plus"))
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.startswith("error: line 3, column 10: found op 'stablehlo.plus'")


@pytest.mark.parametrize(
    "arguments",
    [(), ("--parse",), ("--frobnicate", "x"), ("--parse", "-", "--form", "pretty?"),
     ("--parse", "/no/such/file")],
)  # fmt: skip
def test_wrong_usage_is_exit_code_2(arguments):
    result = run(*arguments)
    assert result.returncode == 2
    assert result.stderr.startswith("tpu-hlo: ")
