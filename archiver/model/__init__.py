"""The words of the house: frozen values that travel between rooms. Nothing here does I/O."""
