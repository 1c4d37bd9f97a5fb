"""Article extraction: choosing the content of a page and cleaning it."""
