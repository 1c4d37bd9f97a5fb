"""Benchmarks of the archive. Not part of the installed package."""
