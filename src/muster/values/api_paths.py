"""The paths of requests, from names that anybody may have written: owner references, files, arguments of commands.

The only module that puts a path together (`tests/client/test_paths.py` looks for others). Every segment is quoted, and
what cannot be the name of an object is refused: a name never becomes another path, a query or a list.
"""

from __future__ import annotations

import re
from typing import Final
from urllib.parse import quote

from muster.errors import InvalidObjectError
from muster.values.names import path_segment_problems, qualified_name_problems

_SUB_DELIMITERS: Final = "!$&'()*+,;=:@"
_CLEAN: Final = re.compile(r"(?:/(?!\.{1,2}(?:/|$))(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%(?!2[EeFf]|25)[0-9A-Fa-f]{2})+)+")
_SHOWN: Final = 80


def group_path(group: str, version: str) -> str:
    """Where the resources of a group and version are."""
    return _joined(("apis", group, version) if group else ("api", version))


def collection_path(group: str, version: str, plural: str, namespace: str = "") -> str:
    """All objects of a resource, or those of a namespace. Raises InvalidObjectError."""
    inside = ("namespaces", namespace) if namespace else ()
    return group_path(group, version) + _joined((*inside, plural))


def object_path(group: str, version: str, plural: str, namespace: str, name: str, subresource: str = "") -> str:
    """One object; no namespace for what is in none. Raises InvalidObjectError for what can be no object's name."""
    below = (name, subresource) if subresource else (name,)
    return collection_path(group, version, plural, namespace) + _joined(below)


def by_name(name: str) -> dict[str, str]:
    """The parameters that narrow a list or a watch down to one object."""
    escaped = re.sub(r"([\\,=])", r"\\\1", _segment(name))
    return {"fieldSelector": f"metadata.name={escaped}"}


def by_label(key: str) -> dict[str, str]:
    """The parameters that narrow a list down to objects with a label."""
    if problems := qualified_name_problems(key):
        raise InvalidObjectError("", f"{key[:_SHOWN]!r} is not a label key: {problems[0]}")
    return {"labelSelector": key}


def checked(path: str) -> str:
    """The path, if it is only a path: the last look before a request is sent. Raises InvalidObjectError."""
    if not _CLEAN.fullmatch(path):
        raise InvalidObjectError("", f"{path[:_SHOWN]!r} is not the path of a request")
    return path


def _joined(segments: tuple[str, ...]) -> str:
    return "".join(f"/{quote(_segment(each), safe=_SUB_DELIMITERS)}" for each in segments)


def _segment(text: str) -> str:
    if not text:
        raise InvalidObjectError("", "a name is empty: no object has such a name")
    problems = path_segment_problems(text)
    if not problems and any("\ud800" <= letter <= "\udfff" for letter in text):
        problems = ["is not valid text"]
    if problems:
        raise InvalidObjectError("", f"no object can be named {text[:_SHOWN]!r}: {problems[0]}")
    return text
