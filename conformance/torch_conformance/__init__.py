"""A conformance suite for PyTorch devices. Knows its subject by the device's name alone."""
