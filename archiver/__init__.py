"""Personal web archive: captures URLs as verifiable WARC records."""

__version__ = "0.1.0"
