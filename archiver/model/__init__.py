"""Values that travel between packages. Nothing here does I/O."""
