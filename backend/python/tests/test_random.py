import struct

import pytest
import torch


def test_state_is_seed_and_offset():
    torch.tpu.manual_seed(1234567890123)
    state = torch.tpu.get_rng_state()
    assert state.dtype == torch.uint8
    assert state.device.type == "cpu"
    assert struct.unpack("<QQ", bytes(state.tolist())) == (1234567890123, 0)
    assert torch.tpu.initial_seed() == 1234567890123


def test_state_round_trip():
    wanted = torch.tensor(list(struct.pack("<QQ", 7, 42)), dtype=torch.uint8)
    torch.tpu.set_rng_state(wanted)
    assert torch.equal(torch.tpu.get_rng_state("tpu:0"), wanted)
    assert torch.tpu.default_generators[0].get_offset() == 42
    torch.tpu.manual_seed(7)
    assert torch.tpu.default_generators[0].get_offset() == 0


def test_bad_states_are_refused():
    with pytest.raises(RuntimeError, match="16"):
        torch.tpu.set_rng_state(torch.zeros(8, dtype=torch.uint8))
    with pytest.raises((RuntimeError, TypeError)):
        torch.tpu.set_rng_state(torch.zeros(16))


def test_torch_manual_seed_reaches_the_device():
    torch.manual_seed(99)
    assert torch.tpu.initial_seed() == 99


def test_generators_are_independent():
    a, b = torch.Generator(device="tpu"), torch.Generator(device="tpu")
    a.manual_seed(1)
    b.manual_seed(2)
    assert (a.initial_seed(), b.initial_seed()) == (1, 2)
    assert a.device == torch.device("tpu:0")
    a.set_offset(8)
    copy = a.clone_state()
    copy.set_offset(16)
    assert a.get_offset() == 8


def test_graphsafe_state_is_shared():
    a, b = torch.Generator(device="tpu"), torch.Generator(device="tpu")
    b.graphsafe_set_state(a.graphsafe_get_state())
    a.manual_seed(5)
    a.set_offset(12)
    assert (b.initial_seed(), b.get_offset()) == (5, 12)


def test_fork_rng_restores():
    torch.tpu.manual_seed(5)
    torch.tpu.default_generators[0].set_offset(4)
    with torch.random.fork_rng(device_type="tpu"):
        torch.tpu.manual_seed(6)
    assert torch.tpu.initial_seed() == 5
    assert torch.tpu.default_generators[0].get_offset() == 4


def test_seed_draws_a_new_one():
    generator = torch.Generator(device="tpu")
    assert generator.seed() != generator.seed()


def test_a_checkpoint_draws_the_same_mask_again():
    from torch.utils.checkpoint import checkpoint

    torch.manual_seed(8)
    x = torch.ones(512, device="tpu", requires_grad=True)
    y = checkpoint(lambda v: torch.nn.functional.dropout(v, 0.5), x, use_reentrant=False)
    y.sum().backward()
    assert torch.equal(x.grad, y.detach())
