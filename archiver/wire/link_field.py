"""``Link`` fields (RFC 8288 §3): what they point at, and their parameters."""

import re
from collections.abc import Iterator

_LINK = re.compile(r"""<([^<>]*+)>((?>(?:[^,"]++|"(?>(?:[^"\\]++|\\.)*)"?)*))""")
_PARAMETER = re.compile(r""";[ \t]*+([a-zA-Z]++)[ \t]*+=[ \t]*+(?:"([^"\\]*+)"|([^ \t;,"]++))""")


def link_values(value: str) -> Iterator[tuple[str, dict[str, str]]]:
    """(URI reference, parameters) of each link of a field's value, in order.

    Names of parameters are lower case. What is no link is passed over.

    >>> list(link_values('</style.css>; rel="preload"; as=style'))
    [('/style.css', {'rel': 'preload', 'as': 'style'})]
    """
    for found in _LINK.finditer(value):
        yield (
            found[1],
            {name.lower(): quoted or bare for name, quoted, bare in _PARAMETER.findall(found[2])},
        )
