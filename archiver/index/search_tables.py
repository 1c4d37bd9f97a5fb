"""The full-text tables: one for each stretch of documents, made as documents come."""

PART_SIZE = 1 << 15
"""Documents of one full-text table: what a query does in one does not grow with the archive."""
SEARCH_COLUMNS = ("title", "tags", "note", "by", "url", "keys", "text")


def search_table(part: int) -> str:
    """The name of a full-text table; its rowids are those ``document.id`` that fall into it."""
    return f"search_{part:05}"


def search_ddl(part: int) -> tuple[str, ...]:
    """How a full-text table is made, and the list of its words.

    Contentless: the text itself lies in the conversion records. Words come as ``query.words`` makes
    them, so that nothing is left to the tokenizer but to split at spaces.
    """
    name, columns = search_table(part), ", ".join(SEARCH_COLUMNS)
    options = "content='', tokenize='ascii'"
    return (
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5({columns}, {options})",
        f"CREATE VIRTUAL TABLE IF NOT EXISTS {name}_words USING fts5vocab({name}, row)",
    )
