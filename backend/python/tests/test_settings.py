import contextlib

import pytest
import torch
from torch_tpu import _C


@pytest.fixture(autouse=True)
def restore():
    yield
    torch._C._set_float32_matmul_precision("highest")


def test_default_is_one_pass(run_python):
    done = run_python("""
        import torch
        from torch_tpu import _C
        print(torch.get_float32_matmul_precision(), _C.matmul_precision())
        torch.set_float32_matmul_precision("highest")
        print(torch.get_float32_matmul_precision(), _C.matmul_precision())
    """)
    assert done.stdout.split() == ["medium", "medium", "highest", "highest"]


def test_torch_setting_drives_the_device():
    for name in ("high", "medium", "highest"):
        torch.set_float32_matmul_precision(name)
        assert _C.matmul_precision() == name
        assert torch.get_float32_matmul_precision() == name


def test_the_lower_level_setting_counts_too(run_python):
    done = run_python("""
        import torch
        from torch_tpu import _C
        torch._C._set_float32_matmul_precision("high")
        print(_C.matmul_precision())
    """)
    assert done.stdout.strip() == "high"


def test_precision_context_nests_and_restores():
    torch.set_float32_matmul_precision("high")
    with torch.tpu.precision(torch.tpu.Precision.HIGHEST):
        assert _C.matmul_precision() == "highest"
        assert torch.get_float32_matmul_precision() == "high", "the getter gives the global setting"
        with contextlib.suppress(KeyError), torch.tpu.precision(torch.tpu.Precision.DEFAULT):
            assert _C.matmul_precision() == "medium"
            raise KeyError
        assert _C.matmul_precision() == "highest"
    assert _C.matmul_precision() == "high"


def test_precision_wants_the_enum():
    with pytest.raises(TypeError), torch.tpu.precision("high"):
        pass


def test_excess_precision_is_a_checked_property():
    assert torch.tpu.allow_excess_precision is False
    torch.tpu.allow_excess_precision = True
    assert _C.allow_excess_precision()
    torch.tpu.allow_excess_precision = False
    with pytest.raises(TypeError):
        torch.tpu.allow_excess_precision = 1


def test_eager_mode():
    assert torch.tpu.eager_mode is torch.tpu.EagerMode.DEFER_NEVER
    with torch.tpu.set_eager_mode(torch.tpu.EagerMode.DEFER_NEVER):
        assert torch.tpu.eager_mode is torch.tpu.EagerMode.DEFER_NEVER
    torch.tpu.eager_mode = torch.tpu.EagerMode.DEFER_NEVER
    with pytest.raises(TypeError):
        torch.tpu.eager_mode = "strict"


def test_source_location_names_the_user_line():
    def user_function():
        return _C.source_location()

    assert user_function().startswith("test_settings.py:")
    assert user_function().endswith("in user_function")
