"""Whether a query names a place where an original that is read to run keeps its text: its tree, or its own process.

In: a query. Out: the part that does, or None. Looked at are arguments, variables, standard input and files. It is a
guard for originals that do as they are told with the paths that they are given; one that makes up names of its own
(a language with strings and files) is held by what its answers show.
"""

from __future__ import annotations

import re

from programsmith.payload.query.wire import Query

_PLACE = re.compile(rb"/(?:\.?/)*(?:opt|proc|dev/+(?:\.?/)*fd)(?![\w-])")
"""A folder of these names, anywhere in a path."""
_ABSOLUTE = re.compile(rb"(?:(?<=[\s'\"=:,;@(<])|^|(?<=^-\w))/[^\s'\"=:,;]*")
_CLIMBS = re.compile(rb"(?:^|[\s'\"/=:,;@(<]|^-\w)\.\.(?:/|$)")
_WHOLE = re.compile(rb"(?:/\.?)+/?|.*[*?\[{].*", re.DOTALL)
"""An absolute path that means everything below /, or whatever a pattern finds."""


def named_place(query: Query) -> bytes | None:
    """The first word of the query that names such a place."""
    for word in (*query.argv, *(value for _, value in query.env)):
        whole = any(_WHOLE.fullmatch(path) for path in _ABSOLUTE.findall(word))
        if whole or _CLIMBS.search(word) or _PLACE.search(word):
            return word
    for content in (query.stdin, *(entry.content for entry in query.files)):
        found = _PLACE.search(content)
        if found:
            return found[0]
    return None
