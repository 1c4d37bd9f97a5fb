"""Content-Disposition of what is saved under a name (RFC 6266)."""

from urllib.parse import quote


def attachment(name: str) -> str:
    r"""The field's value; ``name`` is safe as a file's already.

    >>> attachment("Füchse.md")
    "attachment; filename=\"F_chse.md\"; filename*=UTF-8''F%C3%BCchse.md"
    """
    plain = name.encode("ascii", "replace").decode().replace("?", "_")
    return f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"
