import gc

import pytest
import torch

KIB, MIB = 1 << 10, 1 << 20


@pytest.fixture(autouse=True)
def fresh():
    gc.collect()
    torch.accelerator.empty_cache()
    torch.accelerator.reset_peak_memory_stats()


def storage(size):
    return torch.UntypedStorage(size, device="tpu")


def test_allocations_are_counted():
    before = torch.accelerator.memory_allocated()
    held = storage(MIB)
    assert held.device == torch.device("tpu:0")
    assert torch.accelerator.memory_allocated() == before + MIB
    assert torch.accelerator.max_memory_allocated() == before + MIB
    del held
    assert torch.accelerator.memory_allocated() == before
    assert torch.accelerator.max_memory_allocated() == before + MIB
    torch.accelerator.reset_peak_memory_stats()
    assert torch.accelerator.max_memory_allocated() == before


def test_sizes_are_padded_to_tiles():
    before = torch.accelerator.memory_stats()
    held = storage(1)
    after = torch.accelerator.memory_stats()
    assert after["allocated_bytes.all.current"] - before["allocated_bytes.all.current"] == 512
    assert after["requested_bytes.all.current"] - before["requested_bytes.all.current"] == 1
    assert after["allocation.all.current"] - before["allocation.all.current"] == 1
    del held


def test_freed_memory_is_cached_and_given_back():
    held = storage(8 * MIB)
    address = held.data_ptr()
    del held
    assert torch.accelerator.memory_reserved() >= 8 * MIB
    again = storage(8 * MIB)
    assert again.data_ptr() == address
    del again
    reserved = torch.accelerator.memory_reserved()
    torch.accelerator.empty_cache()
    assert torch.accelerator.memory_reserved() <= reserved - 8 * MIB


def test_memory_info():
    free, total = torch.accelerator.get_memory_info()
    assert total == 32 << 30
    held = storage(MIB)
    assert torch.accelerator.get_memory_info() == (free - MIB, total)
    del held


def test_out_of_memory(hbm_capacity):
    used = torch.accelerator.memory_allocated()
    hbm_capacity(used + 4 * MIB)
    held = storage(3 * MIB)
    with pytest.raises(torch.OutOfMemoryError) as caught:
        storage(2 * MIB)
    text = str(caught.value)
    assert "tried to allocate 2.00 MiB" in text
    assert "Largest holders" in text
    assert "What to do" in text
    assert torch.accelerator.memory_stats()["num_ooms"] >= 1
    del held
    assert storage(2 * MIB).nbytes() == 2 * MIB


def test_capacity_cannot_go_below_what_is_held(hbm_capacity):
    held = storage(4 * MIB)
    with pytest.raises(RuntimeError, match="allocated"):
        hbm_capacity(MIB)
    with pytest.raises(RuntimeError):
        hbm_capacity(1 << 50)
    del held


def test_accumulated_stats_reset():
    storage(KIB)
    assert torch.accelerator.memory_stats()["allocation.all.allocated"] > 0
    torch.accelerator.reset_accumulated_memory_stats()
    assert torch.accelerator.memory_stats()["allocation.all.allocated"] == 0


def test_resizing_a_storage():
    held = storage(KIB)
    held.resize_(4 * KIB)
    assert held.nbytes() == 4 * KIB
    held.resize_(0)
    assert held.nbytes() == 0
    torch.accelerator.synchronize()


def test_pinned_memory():
    pinned = torch.arange(1000).pin_memory()
    assert pinned.is_pinned()
    assert pinned[500:].is_pinned(), "an address inside of the block"
    assert not torch.arange(1000).is_pinned()
    assert torch.equal(pinned, torch.arange(1000))
    assert torch.empty(3, pin_memory=True).is_pinned()
    assert torch.empty(0).pin_memory().numel() == 0


def test_loader_pins():
    data = torch.utils.data.TensorDataset(torch.arange(8.0))
    for (batch,) in torch.utils.data.DataLoader(data, batch_size=4, pin_memory=True):
        assert batch.is_pinned()
