import pathlib

from torch_tpu import _loader


def test_import_torch_is_enough(run_python):
    done = run_python("""
        import torch
        print(torch.device("tpu:0"), torch.accelerator.current_accelerator())
        print(torch.accelerator.is_available(), torch.accelerator.device_count())
        import torch.tpu.emulator
        print(hasattr(torch.Tensor, "is_tpu"), hasattr(torch.nn.Module, "tpu"))
    """)
    assert done.stdout.split() == ["tpu:0", "tpu", "True", "1", "True", "True"]
    assert done.stderr == ""


def test_autoload_can_be_turned_off(run_python):
    done = run_python(
        """
        import torch
        import torch_tpu
        print(hasattr(torch, "tpu"))
        try:
            torch.device("tpu")
        except RuntimeError:
            print("absent")
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert done.stdout.split() == ["False", "absent"]


def test_a_taken_slot_is_a_warning(run_python):
    done = run_python(
        """
        import os, warnings, torch
        torch.utils.rename_privateuse1_backend("other")
        os.environ["TORCH_DEVICE_BACKEND_AUTOLOAD"] = "1"
        from torch_tpu import _loader
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            _loader.load()
        print(len(caught), "taken by 'other'" in str(caught[0].message), hasattr(torch, "tpu"))
        """,
        TORCH_DEVICE_BACKEND_AUTOLOAD="0",
    )
    assert done.stdout.split() == ["1", "True", "False"]


def test_a_failing_library_does_not_break_torch(run_python, tmp_path):
    broken = tmp_path / "broken" / "torch_tpu"
    broken.mkdir(parents=True)
    (broken / "__init__.py").write_text("")
    (broken / "_loader.py").write_text(pathlib.Path(_loader.__file__).read_text())
    (tmp_path / "broken" / "x.dist-info").mkdir()
    (tmp_path / "broken" / "x.dist-info" / "METADATA").write_text("Name: x\nVersion: 1\n")
    (tmp_path / "broken" / "x.dist-info" / "entry_points.txt").write_text(
        "[torch.backends]\ntorch_tpu = torch_tpu._loader:load\n"
    )
    done = run_python(
        "import torch; print(torch.ones(2).sum().item(), torch._C._get_privateuse1_backend_name())",
        PYTHONPATH=str(tmp_path / "broken"),
    )
    assert done.stdout.split() == ["2.0", "privateuseone"]
    assert "the device 'tpu' is not available" in done.stderr


def test_nothing_is_left_running_at_exit(run_python):
    run_python("""
        import torch
        streams = [torch.Stream(device="tpu") for _ in range(8)]
        for stream in streams:
            stream.record_event()
    """)
