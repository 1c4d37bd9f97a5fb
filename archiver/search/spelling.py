"""Spelling variants of words."""

from string import ascii_lowercase, digits

LETTERS = ascii_lowercase + digits
MAX_VARIANT_LENGTH = 30
"""Maximum length of a word whose variants are generated; longer words have thousands."""


def words_one_edit_away(word: str) -> set[str]:
    """Return all words at edit distance 1; empty for a word that is too long.

    Inserted and substituted characters are the word's own letters, a-z and digits.
    """
    if len(word) > MAX_VARIANT_LENGTH:
        return set()
    letters = {*LETTERS, *word}
    splits = [(word[:n], word[n:]) for n in range(len(word) + 1)]
    deletions = {head + tail[1:] for head, tail in splits if tail}
    transpositions = {head + tail[1] + tail[0] + tail[2:] for head, tail in splits[:-2]}
    insertions = {head + each + tail for head, tail in splits for each in letters}
    substitutions = {head + each + tail[1:] for head, tail in splits[:-1] for each in letters}
    return (deletions | transpositions | insertions | substitutions) - {word}


def words_with_two_deletions(word: str) -> set[str]:
    """Return all words that result from removing two letters of a word; empty if it is too long."""
    if len(word) > MAX_VARIANT_LENGTH:
        return set()
    places = range(len(word))
    return {word[:n] + word[n + 1 : m] + word[m + 1 :] for n in places for m in places if n < m}
