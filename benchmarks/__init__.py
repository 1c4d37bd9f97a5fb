"""Programs that print what the archive costs. Not shipped."""
