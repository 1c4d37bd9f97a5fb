"""Values that are passed between packages. No I/O."""
