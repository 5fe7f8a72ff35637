"""What a name means: local variables of macros, then the environment, tried in the container and its parents.

The checker asks; the rules are cel-go's. A leading dot means the outermost name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from muster.cel.checking.types import Kind, type_of_type
from muster.cel.syntax.tree import Ident, Reference, Select
from muster.cel.values.messages import MESSAGES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel.checking.types import Type
    from muster.cel.declarations import Function
    from muster.cel.environment import Env
    from muster.cel.syntax.tree import Expr


class Meaning(Struct, frozen=True):
    """The type of what was found, and how the back ends refer to it."""

    type: Type
    reference: Reference


def qualified_name(expr: Expr) -> str | None:
    """`a.b.c` when the expression is nothing but that."""
    parts: list[str] = []
    while isinstance(expr, Select):
        if expr.test_only:
            return None
        parts.append(expr.field)
        expr = expr.operand
    if not isinstance(expr, Ident):
        return None
    parts.append(expr.name)
    return ".".join(reversed(parts))


class Names:
    """The scopes of one check."""

    def __init__(self, env: Env) -> None:
        self._env = env
        self._scopes: list[dict[str, Type]] = []
        parts = env.container.split(".") if env.container else []
        self._prefixes = [".".join(parts[:count]) + "." for count in range(len(parts), 0, -1)]

    def declare(self, scope: dict[str, Type]) -> None:
        """Open a scope with these variables; `leave` closes it."""
        self._scopes.append(scope)

    def leave(self) -> None:
        self._scopes.pop()

    def _candidates(self, name: str) -> Iterator[str]:
        """The names to try, the innermost container first."""
        absolute = name.startswith(".")
        if absolute:
            name = name[1:]
        alias = self._alias(name)
        if alias is not None:
            yield alias
            return
        if not absolute:
            for prefix in self._prefixes:
                yield prefix + name
        yield name

    def _alias(self, name: str) -> str | None:
        if not self._env.abbreviations:
            return None
        first, dot, rest = name.partition(".")
        full = self._env.abbreviations.get(first)
        return None if full is None else full + dot + rest

    def _local(self, name: str) -> Type | None:
        for scope in reversed(self._scopes):
            found = scope.get(name)
            if found is not None:
                return found
        return None

    def variable(self, name: str) -> Meaning | None:
        """What an identifier, or a chain of selections that may be one name, means."""
        first = name.split(".", 1)[0] if not name.startswith(".") else ""
        shadowed = False
        if self._scopes:
            local = self._local(first or name.split(".", 2)[1])
            if local is not None and first:
                return Meaning(local, Reference(name)) if first == name else None
            shadowed = local is not None
        for candidate in self._candidates(name):
            found = self._global(candidate)
            if found is not None:
                # The dot keeps the back ends from taking a macro's variable of the same name for it.
                if shadowed:
                    reference = found.reference
                    dotted = Reference("." + reference.name, (), reference.value, reference.is_constant)
                    return Meaning(found.type, dotted)
                return found
        return None

    def _global(self, name: str, *, variables: bool = True) -> Meaning | None:
        variable = self._env.variables.get(name) if variables else None
        if variable is not None:
            return Meaning(variable.type, Reference(name))
        constant = self._env.constants.get(name)
        if constant is not None:
            return Meaning(constant.type, Reference(name, (), constant.value, is_constant=True))
        declared = self._env.types.find_struct(name)
        if declared is None and name in MESSAGES:
            declared = MESSAGES[name].type
        if declared is not None:
            described = declared if declared.kind is Kind.TYPE else type_of_type(declared)
            return Meaning(described, Reference(name))
        return None

    def type_name(self, name: str) -> Meaning | None:
        """What the name of a message literal means: a type, whatever variables are called."""
        for candidate in self._candidates(name):
            found = self._global(candidate, variables=False)
            if found is not None and found.type.kind is Kind.TYPE:
                return found
        return None

    def function(self, name: str) -> Function | None:
        functions = self._env.functions
        if not self._prefixes and not self._env.abbreviations:
            return functions.get(name.removeprefix("."))
        for candidate in self._candidates(name):
            found = functions.get(candidate)
            if found is not None:
                return found
        return None
