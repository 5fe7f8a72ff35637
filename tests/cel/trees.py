"""Comparing trees without their ids."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


def shape(node: Any) -> Any:
    """The node as nested tuples, ids left out, floats told apart from ints and by sign."""
    if isinstance(node, Struct):
        parts = (shape(getattr(node, name)) for name in node.__struct_fields__ if name != "id")
        return (type(node).__name__, *parts)
    if isinstance(node, tuple):
        return tuple(map(shape, node))
    return (type(node).__name__, repr(node)) if isinstance(node, int | float) else node
