"""Paths that existing programs import from; everything public is in ``torch.tpu``."""
