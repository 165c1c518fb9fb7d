import pytest
import torch

NAMES = """
    EagerMode eager_mode set_eager_mode Precision precision allow_excess_precision manual_seed
    manual_seed_all set_rng_state default_generators get_rng_state initial_seed is_available
    device_count current_device set_device synchronize current_stream set_stream device device_of
    is_initialized get_amp_supported_dtype get_device_name get_device_properties Stream Event stream
    default_stream emulator _is_in_bad_fork
"""


@pytest.mark.parametrize("name", NAMES.split())
def test_has(name):
    assert hasattr(torch.tpu, name)


def test_accelerator_finds_the_device():
    assert torch.accelerator.is_available()
    assert torch.accelerator.device_count() == 1
    assert torch.accelerator.current_device_index() == 0
    assert torch.accelerator.current_accelerator() == torch.device("tpu")
    torch.accelerator.set_device_index(0)
    torch.accelerator.synchronize()


@pytest.mark.filterwarnings("ignore:<TorchTpu/ApiStage")
def test_there_is_only_one_device():
    for call in (
        lambda: torch.accelerator.set_device_index(1),
        lambda: torch.tpu.set_device(1),
        lambda: torch.tpu.device("tpu:3"),
        lambda: torch.tpu.set_device("cpu"),
    ):
        with pytest.raises(ValueError, match=r"TPU|tpu"):
            call()


def test_properties():
    properties = torch.tpu.get_device_properties()
    assert properties.name == torch.tpu.get_device_name("tpu:0") == "TPU v6e"
    assert properties.total_memory == 32 << 30
    assert properties.multi_processor_count == 1


@pytest.mark.parametrize(("chip", "gib"), [("v4", 32), ("v5p", 95), ("v5e", 16), ("v7", 96), ("tpu7x", 96)])
def test_other_chips(run_python, chip, gib):
    done = run_python(
        "import torch; p = torch.tpu.get_device_properties(); print(p.total_memory >> 30)",
        TORCH_TPU_EMULATOR_CHIP=chip,
    )
    assert int(done.stdout) == gib


def test_unknown_chip_is_a_plain_error(run_python):
    done = run_python(
        """
        import torch
        try:
            torch.tpu.get_device_name()
        except RuntimeError as error:
            print(str(error).splitlines()[0])
        """,
        TORCH_TPU_EMULATOR_CHIP="v99",
    )
    assert done.stdout.strip() == "no chip is named 'v99'; known are v4 v5e v5p v6e v7"


def test_legacy_functions_warn_a_user_once(run_python):
    done = run_python("""
        import warnings, torch
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            torch.tpu.synchronize()
            torch.tpu.synchronize()
            torch.random.fork_rng(device_type="tpu").__enter__()  # PyTorch calls device_count
        print(len(caught), "torch.accelerator.synchronize" in str(caught[0].message))
    """)
    assert done.stdout.split() == ["1", "True"]


def test_legacy_functions_can_be_refused(run_python):
    done = run_python(
        """
        import torch
        for call in (torch.tpu.is_available, torch.tpu.current_device, torch.tpu.current_stream,
                     lambda: torch.tpu.device(0)):
            try:
                call()
            except RuntimeError as error:
                print("torch.accelerator" in str(error))
        """,
        TORCH_TPU_ALLOW_LEGACY_DEVICE_APIS="0",
    )
    assert done.stdout.split() == ["True"] * 4


def test_the_chip_is_made_at_first_use(run_python):
    done = run_python("""
        import torch
        torch.manual_seed(3)
        print(torch.tpu.is_initialized())
        torch.tpu.init()
        print(torch.tpu.is_initialized())
    """)
    assert done.stdout.split() == ["False", "True"]


def test_capability_lists_dtypes():
    supported = torch.accelerator.get_device_capability()["supported_dtypes"]
    assert {torch.bfloat16, torch.float8_e4m3fn, torch.complex128, torch.bool} <= supported
    assert torch.complex32 not in supported


def test_autocast_dtype():
    assert torch.get_autocast_dtype("tpu") == torch.bfloat16
    with torch.autocast("tpu"):
        assert torch.is_autocast_enabled("tpu")


def test_hardware_helpers():
    from torch_tpu._internal.utils import hardware

    assert hardware.get_tpu_version() == "v6e"
    assert hardware.get_hbm_bytes_per_device() == 32 << 30
    assert hardware.get_bf16_flops_per_device() == 918e12
