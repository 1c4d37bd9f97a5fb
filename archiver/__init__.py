"""A wayback machine of one's own: a URL becomes bytes on disk that can be proved."""

__version__ = "0.1.0"
