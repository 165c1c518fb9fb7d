"""What eager execution itself promises: aliasing, layouts, the cache, results in given memory."""

import pytest
import torch


def test_fresh_results_keep_the_operands_layout():
    x = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)
    y = x.to("tpu")
    assert y.stride() == x.stride()
    assert (y + 1).stride() == (x + 1).stride()
    assert (y.transpose(0, 2) * y.transpose(0, 2)).stride() == (x.transpose(0, 2) * x.transpose(0, 2)).stride()
    assert (y + torch.ones(5, device="tpu")).stride() == (x + torch.ones(5)).stride()


@pytest.mark.parametrize("seed", range(20))
def test_random_strides_give_the_cpu_s_strides_and_values(seed):
    generator = torch.Generator().manual_seed(seed)

    def number(high):
        return int(torch.randint(1, high, (), generator=generator))

    rank = number(5)
    shape = [number(5) for _ in range(rank)]
    order = torch.randperm(rank, generator=generator).tolist()
    x = torch.randn([shape[i] for i in order], generator=generator).permute([order.index(i) for i in range(rank)])
    y = torch.randn([1 if number(3) == 1 else size for size in shape], generator=generator)
    want = x * y + x
    got = x.to("tpu") * y.to("tpu") + x.to("tpu")
    assert got.stride() == want.stride(), f"seed {seed}: shape {shape}, order {order}"
    torch.testing.assert_close(got.cpu(), want)


def test_out_is_resized_with_a_warning_and_keeps_its_strides():
    a = torch.arange(6.0, device="tpu").view(2, 3)
    out = torch.empty(3, 2, device="tpu").t()
    assert torch.add(a, a, out=out) is out
    assert out.stride() == (1, 2)
    assert out.tolist() == (a.cpu() * 2).tolist()
    small = torch.ones(4, device="tpu")
    with pytest.warns(UserWarning, match="was resized"):
        torch.add(a, a, out=small)
    assert small.tolist() == (a.cpu() * 2).tolist()


def test_out_may_be_an_operand():
    a = torch.arange(4.0, device="tpu")
    torch.mul(a, a, out=a)
    assert a.tolist() == [0.0, 1.0, 4.0, 9.0]


def test_writes_between_interleaved_windows():
    x = torch.arange(8.0, device="tpu")
    x[::2].add_(x[1::2])
    assert x.tolist() == [1.0, 1.0, 5.0, 3.0, 9.0, 5.0, 13.0, 7.0]


def test_a_number_that_only_enters_as_a_value_compiles_once():
    x = torch.ones(17, 3, device="tpu")
    (x * 0.5).sum().item()
    before = torch.tpu._get_cache_stats()["num_compilations"]
    for factor in (0.1, 0.2, 0.3):
        assert (x * factor).cpu()[0, 0].item() == pytest.approx(factor)
    x.add_(x, alpha=0.25)
    x.add_(x, alpha=0.75)
    torch.accelerator.synchronize()
    assert torch.tpu._get_cache_stats()["num_compilations"] == before + 1


def test_equal_calls_hit_the_cache():
    x = torch.ones(5, 7, device="tpu")
    (x + x).cpu()
    before = torch.tpu._get_cache_stats()
    for _ in range(10):
        x + x
    torch.accelerator.synchronize()
    after = torch.tpu._get_cache_stats()
    assert after["num_cache_reqs"] - before["num_cache_reqs"] == 10
    assert after["num_cache_hits"] - before["num_cache_hits"] == 10


def test_copies_read_the_host_before_they_return():
    source = torch.arange(100.0)
    copies = [source.to("tpu") for _ in range(3) if source.add_(1) is source]
    assert [c[0].item() for c in copies] == [1.0, 2.0, 3.0]


def test_conjugate_and_negative_views_arrive_resolved():
    z = torch.tensor([1 + 2j, 3 - 4j])
    assert z.to("tpu").conj().cpu().tolist() == [1 - 2j, 3 + 4j]
    assert z.conj().to("tpu").cpu().tolist() == [1 - 2j, 3 + 4j]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.uint8])
def test_strided_copies_in_both_directions(dtype):
    base = torch.arange(24).remainder(5).to(dtype).view(2, 3, 4)
    for view in (base.transpose(0, 2), base[:, ::2], base[..., 1:3], base[1].t()):
        there = view.to("tpu")
        assert there.cpu().tolist() == view.tolist()
        target = torch.zeros_like(base, device="tpu").transpose(0, 1)[: view.shape[0]]
        if target.shape == view.shape:
            target.copy_(view)
            assert target.cpu().tolist() == view.tolist()


def test_dlpack_shares_memory():
    x = torch.arange(6.0, device="tpu").view(2, 3)
    y = torch.from_dlpack(x)
    assert y.device == x.device
    y.add_(1)
    assert x.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
