"""Samples arrive with their strides, offsets and shared storages."""

import torch
from torch_conformance.tensors import Mover, bits, copied, digest, to_device, widened


def test_layout_survives():
    x = torch.arange(24.0).view(4, 6)
    for tensor in (x.t(), x[1:, ::2], x.view(-1)[5:11], x[:1].expand(3, 6), torch.tensor(3.0)):
        for moved in (to_device(tensor, "cpu"), copied(tensor), widened(tensor)):
            assert moved.stride() == tensor.stride()
            assert moved.storage_offset() == tensor.storage_offset()
            assert torch.equal(moved.float(), tensor)


def test_storages_stay_shared_and_copies_apart():
    x = torch.arange(6.0)
    a, (b, c) = copied((x, [x[2:], x.view(2, 3)]))
    b.fill_(9)
    assert a.tolist() == [0, 1, 9, 9, 9, 9]
    assert c[0, 2] == 9
    assert x[2] == 2


def test_lazy_bits_survive():
    z = torch.tensor([1 + 2j, 3 - 1j])
    for tensor in (z.conj(), z.conj().imag, torch._neg_view(z.real)):
        moved = copied(tensor)
        assert (moved.is_conj(), moved.is_neg()) == (tensor.is_conj(), tensor.is_neg())
        assert torch.equal(moved, tensor)


def test_dtypes_of_references():
    moved = widened((torch.ones(2, dtype=torch.bfloat16), torch.ones(2, dtype=torch.int32), {"dtype": torch.float16}))
    assert moved[0].dtype == torch.float64
    assert moved[1].dtype == torch.int32
    assert moved[2]["dtype"] == torch.float64


def test_gradients_are_asked_of_the_moved_tensor():
    moved = Mover(lambda flat: flat.clone())(torch.ones(3, requires_grad=True)[:2].detach().requires_grad_())
    assert moved.requires_grad
    assert moved.is_leaf


def test_digests_tell_bits_shapes_and_dtypes_apart():
    x = torch.arange(6.0)
    assert digest(x) == digest(x.clone())
    assert len({digest(v) for v in (x, x.view(2, 3), x.int(), x + 1, -x, (x, 1), (x, 2))}) == 7
    assert bits(torch.tensor([[1.0, 2.0], [3.0, 4.0]]).t()) == bits(torch.tensor([[1.0, 3.0], [2.0, 4.0]]))
