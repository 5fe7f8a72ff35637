"""Placement: every expression is compiled when it is written, so that a mistake is known at once and not by silence.

A placement that cannot be scheduled is stored with a warning, as its condition will say the same; the setting
`placement.admission: refuse` keeps it out. Expressions that may cost too much are always refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.admission.write import NOTHING, UPDATE, Finding, invalid_object, spec_of
from muster.errors import InvalidObjectError
from muster.placement import plan_of
from muster.selectors.cel import MOST_BYTES, CelLimits, CostLimitError, cel_compiler, compile_cel
from muster.values.causes import invalid, too_long

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muster.admission.write import Write
    from muster.values.causes import Cause

MOST_WARNING_BYTES = 1024  # of one warning: they travel as headers
_MOST_CHECKED = 256  # expressions compiled for one write


def checked(write: Write, limits: CelLimits, *, refuse: bool) -> Finding:
    """Refuses what may cost too much, warns of what cannot be scheduled."""
    new = write.new
    if new is None or write.subresource or "deletionTimestamp" in new["metadata"]:
        return NOTHING
    if write.operation == UPDATE and spec_of(new) == spec_of(write.old):
        return NOTHING  # an object that was stored must stay writable: finalizers, labels, owners
    causes: list[Cause] = []
    known = {text for _, text in expressions(spec_of(write.old))}
    for count, (path, text) in enumerate(expressions(spec_of(new))):
        if count >= _MOST_CHECKED:
            causes.append(invalid(path, count + 1, f"at most {_MOST_CHECKED} expressions are taken"))
            break
        if text not in known:
            causes.extend(_expression_causes(path, text, limits))
    if causes:
        return invalid_object(causes)
    fault = plan_of(new, cel_compiler(limits=limits)).fault
    if fault is None:
        return NOTHING
    if refuse:
        return invalid_object([invalid("spec", fault.stage, fault.message)])
    return Finding(warnings=(shortened(f"placement cannot be scheduled: {fault.message}"),))


def expressions(spec: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The CEL expressions of a Placement, each with its path."""
    for index, predicate in enumerate(spec.get("predicates") or ()):
        selector = ((predicate or {}).get("requiredClusterSelector") or {}).get("celSelector") or {}
        for number, text in enumerate(selector.get("celExpressions") or ()):
            yield f"spec.predicates[{index}].requiredClusterSelector.celSelector.celExpressions[{number}]", str(text)


def _expression_causes(path: str, text: str, limits: CelLimits) -> list[Cause]:
    if len(text.encode()) > MOST_BYTES:
        return [too_long(path, MOST_BYTES)]
    try:
        compile_cel(text, limits)
    except CostLimitError as error:
        return [invalid(path, text, str(error))]
    except InvalidObjectError:
        return []  # the plan has the same fault, which is a warning
    return []


def shortened(text: str) -> str:
    """A text on one line that fits into a header."""
    line = " ".join(text.split())
    raw = line.encode()
    return line if len(raw) <= MOST_WARNING_BYTES else raw[:MOST_WARNING_BYTES].decode(errors="ignore") + "…"
