"""Helpers that existing programs import."""
