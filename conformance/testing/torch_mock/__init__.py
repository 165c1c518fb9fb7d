"""The device ``mock``: PyTorch's CPU kernels under another name, wrong where it is told to be.

``torch_mock.switch_on("sub.operands_swapped")`` switches a fault on; ``MOCK_FAULT`` in the
environment does so from the start. ``torch_mock.faults()`` lists them all.
"""

from __future__ import annotations

import os

import torch
from torch.utils import backend_registration

from . import _C, _dlpack, device, python_faults

_taken = torch._C._get_privateuse1_backend_name()
if _taken != "privateuseone":
    raise RuntimeError(
        f"PyTorch's slot for an external device is taken by '{_taken}'; set TORCH_DEVICE_BACKEND_AUTOLOAD=0"
    )
backend_registration.rename_privateuse1_backend("mock")
torch._register_device_module("mock", device)
backend_registration.generate_methods_for_privateuse1_backend(for_storage=False)
torch.set_autocast_dtype("mock", torch.bfloat16)
_dlpack.answer_for_device()

faults = _C.faults


def switch_on(name: str) -> None:
    """Switches the fault of this name on, and the one before it off. Faults of the Python package stay on."""
    _C.switch_on(name)
    python_faults.switch_on(name)


if os.environ.get("MOCK_FAULT"):
    switch_on(os.environ["MOCK_FAULT"])
