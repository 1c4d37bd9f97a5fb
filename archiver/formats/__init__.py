"""Import and export formats."""
