"""The selector inside a Placement's predicate: labels AND claims AND CEL expressions.

Compiled to parts that are kept apart, because the fleet evaluates each part once per distinct value of what that part
reads, and shares it with every other placement that has the same part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from muster.selectors.labels import claim_selector, label_selector

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.api.placement import ClusterSelector
    from muster.selectors.match import Selector


class CelCompiler(Protocol):
    """Compiles expressions that are ANDed. Raises InvalidObjectError in the words of the specification."""

    def __call__(self, expressions: Sequence[str]) -> tuple[Selector, ...]: ...


def compile_predicate(spec: ClusterSelector, compile_cel: CelCompiler) -> tuple[Selector, ...]:
    """All parts must hold; none at all holds for every cluster. Raises InvalidObjectError."""
    parts: list[Selector] = [label_selector(spec.label_selector), claim_selector(spec.claim_selector)]
    parts += compile_cel(spec.cel_selector.cel_expressions)
    return tuple(part for part in parts if not part.is_empty)
