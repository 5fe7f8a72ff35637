"""Comparing trees without their ids."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any


def shape(node: Any) -> Any:
    """The node as nested tuples, ids left out, floats told apart from ints and by sign."""
    if is_dataclass(node):
        parts = (shape(getattr(node, field.name)) for field in fields(node) if field.name != "id")
        return (type(node).__name__, *parts)
    if isinstance(node, tuple):
        return tuple(map(shape, node))
    return (type(node).__name__, repr(node)) if isinstance(node, int | float) else node
