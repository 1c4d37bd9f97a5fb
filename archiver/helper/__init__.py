"""Additional crawl process, started as ``python -m archiver.helper``."""
