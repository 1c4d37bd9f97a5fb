"""Submitted URLs and tags, validated."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from archiver.errors import InputError, InvalidUrl
from archiver.formats.seeds import MOST_TAG_CHARACTERS, MOST_TAGS, seed_of, tidy_tag
from archiver.http.text_decoders import well_formed
from archiver.http.urls import with_scheme
from archiver.model.annotation import Annotation
from archiver.model.imports import Rejected
from archiver.model.seed import Seed

MOST_URLS = 10_000


def clean_tags(tags: Sequence[str]) -> tuple[str, ...]:
    """Normalise tags: strip spaces and a leading #, drop duplicates, keep the order.

    Raises:
        InputError: one is too long, or there are too many.
    """
    cleaned = tuple(dict.fromkeys(filter(None, (tidy_tag(tag).lstrip("# ") for tag in tags))))
    if len(cleaned) > MOST_TAGS:
        raise InputError(
            "{count} tags are too many; {most} is the most.", count=len(cleaned), most=MOST_TAGS
        )
    for tag in cleaned:
        if len(tag) > MOST_TAG_CHARACTERS:
            raise InputError(
                "The tag “{tag}…” is too long; {most} characters is the most.",
                tag=tag[:30],
                most=MOST_TAG_CHARACTERS,
            )
    return cleaned


def checked_urls(urls: Sequence[str], *, is_described: bool) -> list[str]:
    """Return the URLs of a request.

    Raises:
        InputError: there is none, there are too many, or several have one title or note.
    """
    given = [with_scheme(url) for url in urls if url.strip()]
    if not given:
        raise InputError("There is no address here. Paste at least one, such as https://….")
    if len(given) > MOST_URLS:
        raise InputError(
            "These are {count} addresses; {most} at once is the most. Import them as a "
            "file instead.",
            count=len(given),
            most=MOST_URLS,
        )
    if len(given) > 1 and is_described:
        raise InputError("A title and a note are of one address; give that alone.")
    return given


def seeds_of(
    given: Sequence[str], annotation: Annotation, now: datetime
) -> tuple[list[Seed], list[Rejected]]:
    """Return seeds of URLs with the same metadata, and rejected URLs."""
    kept, rejected = [], []
    for url in given:
        try:
            kept.append(seed_of(replace(annotation, url_given=url), now=now))
        except InvalidUrl as error:
            rejected.append(Rejected(well_formed(url), str(error)))
    return kept, rejected
