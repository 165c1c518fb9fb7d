"""Eager modes, under the name that older code imports."""

from torch_tpu._device._eager import EagerMode, set_eager_mode
from torch_tpu._device._eager import _get_eager_mode as eager_mode

__all__ = ["EagerMode", "eager_mode", "set_eager_mode"]
