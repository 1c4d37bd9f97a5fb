"""Search language: parsing, tokenizing and snippets."""
