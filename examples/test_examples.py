"""Each example is an ordinary script; on the device it runs to its end and says what it should."""

import pathlib
import re
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent


def run(script, *arguments):
    done = subprocess.run(
        [sys.executable, str(HERE / script), "--device", "tpu", *arguments],
        check=False,
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("autocast", [[], ["--autocast"]], ids=["float32", "autocast"])
def test_digits_cnn_learns(autocast):
    said = run("digits_cnn.py", "--epochs", "4", *autocast)
    assert float(re.search(r"accuracy on tpu: ([\d.]+)", said)[1]) > 0.9


def test_gpt_learns():
    said = run("gpt_characters.py", "--steps", "60")
    first = float(re.search(r"step 0: loss ([\d.]+)", said)[1])
    last = float(re.search(r"over the last 20 steps on tpu: ([\d.]+)", said)[1])
    assert last < first - 1.2


def test_sentences_find_their_neighbours():
    said = run("sentence_neighbours.py")
    pairs = [line.split("~") for line in said.splitlines() if "~" in line]
    assert len(pairs) == 10
    sentences = [left.strip() for left, _ in pairs]
    for index, (_, nearest) in enumerate(pairs):
        assert nearest.strip() == sentences[index ^ 1]


def test_resnet18_descends():
    losses = [float(x) for x in re.findall(r"loss ([\d.]+)", run("resnet18.py", "--steps", "3"))]
    assert len(losses) == 3
    assert all(loss < 10 for loss in losses)


SCRIPTS = [path for path in HERE.glob("*.py") if path.name != pathlib.Path(__file__).name]
ONE_STEP = sorted(path.name for path in SCRIPTS if "report(__doc__" in path.read_text())


@pytest.mark.parametrize("script", ONE_STEP)
def test_one_step_has_gradients_everywhere(script):
    norms = [float(x) for x in re.findall(r"gradient norm ([\d.]+)", run(script))]
    assert len(norms) >= 6
    assert all(0 <= norm < 10 for norm in norms)
    assert sum(norm > 0 for norm in norms) > 0.9 * len(norms)


def test_no_line_is_special_to_this_backend():
    for script in SCRIPTS:
        assert "torch_tpu" not in script.read_text(), script
