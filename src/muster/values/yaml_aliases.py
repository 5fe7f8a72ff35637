"""Aliases in YAML: a few lines of them can stand for gigabytes, or for a value that contains itself.

Whoever reads YAML from outside asks here before building values from it. Knows nothing of what the values mean.
"""

from __future__ import annotations

import re
from typing import Final

import yaml

_ANCHOR: Final = re.compile(rb"(?:^|[\s\[{,])&[^\s,\[\]{}]", re.MULTILINE)
_ALIAS: Final = re.compile(rb"(?:^|[\s\[{,])\*[^\s,\[\]{}]", re.MULTILINE)


def check_aliases(text: bytes, most_bytes: int) -> None:
    """Raises ValueError if the text with all aliases written out is larger than that, or has no end."""
    if not (_ANCHOR.search(text) and _ALIAS.search(text)):
        return  # nearly every text; looking closely costs as much as reading
    sizes: dict[str, int] = {}
    open_nodes: list[tuple[str | None, int]] = [(None, 0)]
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            open_nodes.append((event.anchor, 1))
            continue
        if isinstance(event, yaml.ScalarEvent):
            anchor, size = event.anchor, 1 + len(event.value)
        elif isinstance(event, yaml.AliasEvent):
            if any(event.anchor == each for each, _ in open_nodes):
                line = 1 + (0 if event.start_mark is None else event.start_mark.line)
                raise ValueError(f"line {line}: a value contains itself through *{event.anchor}")
            anchor, size = None, sizes.get(event.anchor or "", 1)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, size = open_nodes.pop()
        else:
            continue
        if anchor is not None:
            sizes[anchor] = size
        outer, counted = open_nodes[-1]
        if counted + size > most_bytes:
            raise ValueError(f"with its aliases written out the text has more than {most_bytes} bytes")
        open_nodes[-1] = (outer, counted + size)
