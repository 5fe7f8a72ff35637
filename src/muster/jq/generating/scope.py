"""What the slots of a resolved query are while code is generated: Python names, or arguments still to be written out.

Functions are written into their callers, so a parameter is known as the argument and the scope it was written in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.jq.resolving import resolved as r

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Argument:
    node: r.Node
    scope: Scope


@dataclass(frozen=True, slots=True)
class Scope:
    """`names` are variables and labels; `arguments` are parameters."""

    names: Mapping[int, str]
    arguments: Mapping[int, Argument]

    def with_name(self, slot: int, name: str) -> Scope:
        return Scope({**self.names, slot: name}, self.arguments)

    def with_names(self, names: Mapping[int, str]) -> Scope:
        return Scope({**self.names, **names}, self.arguments)

    def calling(self, node: r.CallFunction) -> Scope:
        """The scope of a function's body, its `$parameters` still unnamed."""
        bound = dict(self.arguments)
        for parameter, argument in zip(node.function.parameters, node.args, strict=True):
            bound[parameter.slot] = self.argument(argument)
        return Scope(self.names, bound)

    def argument(self, node: r.Node) -> Argument:
        """A parameter that is passed on is the argument itself."""
        return self.arguments[node.slot] if isinstance(node, r.CallParameter) else Argument(node, self)


TOP = Scope({}, {})
