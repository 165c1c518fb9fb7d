"""PyTorch on an emulated TPU: the device ``tpu``.

``import torch`` loads this package through the entry point group ``torch.backends``. The API is in
the module tree ``torch.tpu``; nothing needs to be imported from here.
"""
