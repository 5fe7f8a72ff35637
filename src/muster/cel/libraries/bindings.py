"""cel-go's bindings library: the macro cel.bind, and since version 1 the block that optimisers write."""

from __future__ import annotations

from muster.cel.checking.types import DYN, list_of
from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import T, call
from muster.cel.syntax.macros import BINDING_MACROS

LATEST = 1
_BLOCK = Function(
    "cel.@block",
    (call("cel_block_list", (list_of(DYN), T), T, None),),
    doc="Expressions evaluated at most once each, and an expression that refers to them. Not written by people.",
)


def bindings_library(version: int = LATEST) -> Library:
    """The library as it was in that version."""
    return Library("cel.lib.ext.cel.bindings", (_BLOCK,) if version >= 1 else (), BINDING_MACROS)
