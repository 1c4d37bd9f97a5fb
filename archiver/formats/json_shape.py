"""What is in JSON, and where, told from its first bytes: nothing is parsed that may be cut."""

import re

_BEGINS = re.compile(
    r"""\s*+(?: \{ \s*+ (?: \} | "[^"]*+" \s*+ : )
          | \[ \s*+ (?: \{ | \] \s*+ \Z | \[ \s*+ ["{\[]
                      | "[^"]*+" \s*+ (?: , | \] \s*+ \Z ) ) )""",
    re.VERBOSE,
)
_TOKEN = re.compile(r'"((?:[^"\\]++|\\.)*+)"(\s*+:)?|([\[\]{}])', re.DOTALL)
_MOST_NAMES = 5000
_DEEPEST = 100
_MOST_DEPTH = 8
TOP = "."


def json_paths(head: str) -> frozenset[str]:
    """The names that the head of a JSON text holds, by their place; empty if it is none.

    ``[]`` stands for what an array holds: ``[].href``, ``bookmarks[].content.url``. The top itself
    is ``.``, so that it is never empty for JSON, and ``[]`` or ``{}`` says what that is.

    >>> sorted(json_paths('{"a": [{"b": 1}'))
    ['.', 'a', 'a[].b', '{}']
    """
    begin = _BEGINS.match(head)
    if begin is None:
        return frozenset()
    found = {TOP, "[]" if head.lstrip().startswith("[") else "{}"}
    stack: list[str] = []
    here = slot = ""
    for token in _TOKEN.finditer(head):
        bracket = token[3]
        if bracket is None:
            if token[2] and len(stack) <= _MOST_DEPTH:
                slot = f"{here}.{token[1]}".removeprefix(".")
                found.add(slot)
            continue
        if bracket in "{[":
            stack.append(here)
            here = f"{slot}[]" if bracket == "[" else slot
        else:
            here = stack.pop() if stack else ""
        slot = here
        if len(found) > _MOST_NAMES or len(stack) > _DEEPEST:
            break
    return frozenset(found)
