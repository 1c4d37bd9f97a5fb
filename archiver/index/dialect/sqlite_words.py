"""The index of words in SQLite: FTS5.

Contentless: the text itself lies in the conversion records. Words come as ``query.words`` makes
them, so that nothing is left to the tokenizer but to split at spaces.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ColumnClause, column
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler

from archiver.index.dialect.word_queries import Matches
from archiver.index.search_tables import SEARCH_COLUMNS, search_table
from archiver.index.table_registry import Words
from archiver.model.findable import Findable


class SqliteWords:
    """How FTS5 keeps words, and finds them."""

    matches = "{0} MATCH :match"
    among = (
        "SELECT rowid AS id FROM {0} WHERE {0} MATCH :match"
        " AND rowid BETWEEN :first{1} AND :last{1}"
    )
    chosen = (
        "SELECT rowid AS id FROM {0} WHERE {0} MATCH :match AND rowid BETWEEN :first{1} AND"
        " :last{1} AND +rowid IN (SELECT value FROM json_each(:wanted{1}))"
    )
    """With a plus, each document that is found is asked for, and not the index for each of them."""
    knows_places = True
    at_first: int | None = None
    vocabulary = "SELECT term, doc FROM {0}_words"
    tried = ""
    merge = "INSERT INTO {0} ({0}, rank) VALUES ('merge', -:pages)"
    changes = "SELECT total_changes()"
    pages = """WITH RECURSIVE piece(segid) AS (
  SELECT min(segid) FROM {0}_idx UNION ALL
  SELECT (SELECT min(segid) FROM {0}_idx WHERE segid > piece.segid)
  FROM piece WHERE segid IS NOT NULL
), leaf AS (SELECT
  (SELECT pgno FROM {0}_idx AS leaves WHERE leaves.segid = piece.segid
    AND term <= CAST('0' || :first AS BLOB) ORDER BY term DESC LIMIT 1) AS first,
  (SELECT pgno FROM {0}_idx AS leaves WHERE leaves.segid = piece.segid
    AND term <= CAST('0' || :beyond AS BLOB) ORDER BY term DESC LIMIT 1) AS last
  FROM piece WHERE segid IS NOT NULL
) SELECT coalesce(sum((last - coalesce(first, 2)) / 2), 0) FROM leaf"""
    """A piece of words lies in leaves, and what is in ``_idx`` is with which word each begins, with
    twice its number. A leaf that goes on with the places of one word is not there, but numbered."""
    longest = """WITH leaf AS (SELECT
  substr(CAST(term AS TEXT), 2) AS first,
  lead(substr(CAST(term AS TEXT), 2)) OVER (ORDER BY term) AS beyond,
  lead(pgno) OVER (ORDER BY term) - pgno AS pages
  FROM {0}_idx WHERE segid = (SELECT segid FROM {0}_idx ORDER BY pgno DESC LIMIT 1)
    AND term >= CAST('0' || :first AS BLOB) AND term < CAST('0' || :beyond AS BLOB)
) SELECT (SELECT term FROM {0}_words
    WHERE term >= leaf.first AND term < leaf.beyond ORDER BY doc DESC LIMIT 1) AS term
  FROM leaf WHERE beyond > first ORDER BY pages DESC, first LIMIT :most OFFSET :known"""
    """Between two leaves that are there lie those of the last word of the first one."""
    columns: tuple[ColumnClause[Any], ...] = tuple(column(name, Words) for name in SEARCH_COLUMNS)

    def ddl(self, part: int) -> tuple[str, ...]:
        """How a full-text table is made, and the list of its words."""
        name, columns = search_table(part), ", ".join(SEARCH_COLUMNS)
        options = "content='', tokenize='ascii'"
        return (
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {name} USING fts5({columns}, {options})",
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {name}_words USING fts5vocab({name}, row)",
        )

    def row(self, found_by: Findable) -> tuple[str, ...]:
        """A document as values of ``columns``."""
        return tuple(getattr(found_by, name) for name in SEARCH_COLUMNS)

    def score(self, weights: Mapping[str, float]) -> str:
        """How good a document is, of those in one part."""
        return f"-bm25({{0}}, {', '.join(str(weights[name]) for name in SEARCH_COLUMNS)})"


@compiles(Matches, "sqlite")
def _matches(each: Matches, compiler: SQLCompiler, **more: Any) -> str:
    part, expression = (compiler.process(one, **more) for one in each.clauses)
    return f"{part} MATCH {expression}"
