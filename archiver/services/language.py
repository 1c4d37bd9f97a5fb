"""The search language, to be explained: wherever it is, by the tables it is read by."""

from dataclasses import dataclass

from archiver.query.fields import DATES, FIELDS, OPERATORS, Field, Operator


@dataclass(frozen=True, slots=True)
class Language:
    """Ways to join words, fields, and how a date is written."""

    operators: tuple[Operator, ...] = OPERATORS
    fields: tuple[Field, ...] = FIELDS
    dates: str = DATES


LANGUAGE = Language()
