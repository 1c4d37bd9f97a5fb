"""The full-text tables: one for each stretch of documents, made as documents come."""

PART_SIZE = 1 << 15
"""Documents of one full-text table: what a query does in one does not grow with the archive."""
SEARCH_COLUMNS = ("title", "tags", "note", "by", "url", "keys", "text")


def search_table(part: int) -> str:
    """The name of a full-text table; its rowids are those ``document.id`` that fall into it."""
    return f"search_{part:05}"
