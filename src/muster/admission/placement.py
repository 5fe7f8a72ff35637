"""Placement: every expression is compiled when it is written, so that a mistake is known at once and not by silence.

A placement that cannot be scheduled is stored with a warning, as its condition will say the same; the setting
`placement.admission: refuse` keeps it out. Expressions that may cost too much are always refused.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from muster.admission.compiling import CompileLimitError, ObjectExpressions
from muster.admission.write import NOTHING, Finding, asks_the_same, invalid_object, metadata_of
from muster.errors import InvalidObjectError
from muster.placement import plan_read
from muster.placement.schedule.plan import PLACEMENTS
from muster.selectors.cel import MOST_BYTES, CelLimits, CostLimitError
from muster.values.causes import invalid, too_long

if TYPE_CHECKING:
    from collections.abc import Container, Iterator

    from muster.admission.write import Write
    from muster.api.placement import PlacementSpec
    from muster.values.causes import Cause

MOST_WARNING_BYTES = 1024  # of one warning: they travel as headers
_MOST_CHECKED = 256  # expressions compiled for one write
_MOST_CAUSES = 32


def checked(write: Write, limits: CelLimits, *, refuse: bool) -> Finding:
    """Refuses what may cost too much, warns of what cannot be scheduled."""
    new = write.new
    if new is None or write.subresource or metadata_of(new).is_going or asks_the_same(write):
        return NOTHING
    compiling = ObjectExpressions(limits)
    placement = PLACEMENTS.partly(new)
    before = () if write.old is None else expressions(PLACEMENTS.partly(write.old).obj.spec)
    known = {text for _, text in before}
    causes = list(islice(_causes(placement.obj.spec, known, compiling), _MOST_CAUSES))
    if causes:
        return invalid_object(causes)
    fault = plan_read(placement, compiling.compile_all).fault
    if fault is None:
        return NOTHING
    if refuse:
        return invalid_object([invalid(fault.field, fault.stage, fault.message)])
    return Finding(warnings=(shortened(f"placement cannot be scheduled: {fault.message}"),))


def expressions(spec: PlacementSpec) -> Iterator[tuple[str, str]]:
    """The CEL expressions of a Placement, each with its path."""
    for index, predicate in enumerate(spec.predicates):
        for number, text in enumerate(predicate.required_cluster_selector.cel_selector.cel_expressions):
            yield f"spec.predicates[{index}].requiredClusterSelector.celSelector.celExpressions[{number}]", text


def _causes(spec: PlacementSpec, known: Container[str], compiling: ObjectExpressions) -> Iterator[Cause]:
    """Why expressions are refused. Those that were stored before may stay."""
    for count, (path, text) in enumerate(expressions(spec)):
        if count >= _MOST_CHECKED:
            yield invalid(path, count + 1, f"at most {_MOST_CHECKED} expressions are taken")
            return
        if text in known:
            continue
        if len(text.encode("utf-8", "surrogatepass")) > MOST_BYTES:
            yield too_long(path, MOST_BYTES)
            continue
        try:
            compiling.compile(text)
        except CompileLimitError as error:
            yield invalid(path, text, str(error))
            return
        except CostLimitError as error:
            yield invalid(path, text, str(error))
        except InvalidObjectError:
            continue  # the plan has the same fault, which is a warning


def shortened(text: str) -> str:
    """A text on one line that fits into a header."""
    line = " ".join(text.split())
    raw = line.encode()
    return line if len(raw) <= MOST_WARNING_BYTES else raw[:MOST_WARNING_BYTES].decode(errors="ignore") + "…"
