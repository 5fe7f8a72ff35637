"""The selector inside a Placement's predicate: labels AND claims AND CEL expressions.

Compiled to parts that are kept apart, because the fleet evaluates each part once per distinct value of what that part
reads, and shares it with every other placement that has the same part.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from muster.selectors.labels import compile_claim_selector, compile_label_selector

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.selectors.match import Selector


class CelCompiler(Protocol):
    """Compiles expressions that are ANDed. Raises InvalidObjectError in the words of the specification."""

    def __call__(self, expressions: Sequence[str]) -> tuple[Selector, ...]: ...


def compile_predicate(spec: Mapping[str, Any], compile_cel: CelCompiler) -> tuple[Selector, ...]:
    """All parts must hold; none at all holds for every cluster. Raises InvalidObjectError."""
    parts: list[Selector] = [
        compile_label_selector(spec.get("labelSelector") or {}),
        compile_claim_selector(spec.get("claimSelector") or {}),
    ]
    parts += compile_cel((spec.get("celSelector") or {}).get("celExpressions") or ())
    return tuple(part for part in parts if not part.is_empty)
