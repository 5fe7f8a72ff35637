"""AgentClassification: the query is compiled when it is written.

One that cannot run is stored with a warning, or kept out where the administrator says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.admission.compiling import MOST_QUERY, query_fault
from muster.admission.placement import shortened
from muster.admission.write import NOTHING, Finding, invalid_object
from muster.classification.classification import CLASSIFICATIONS
from muster.values.causes import invalid, too_long

if TYPE_CHECKING:
    from muster.admission.write import Write


def query_checked(write: Write, *, refuse: bool) -> Finding:
    """Warns of a query that does not compile, or refuses it; its condition would say the same."""
    new = write.new
    if new is None or write.subresource:
        return NOTHING
    found = CLASSIFICATIONS.partly(new)
    query = found.obj.spec.query
    if found.fault_in("spec") is not None:
        return NOTHING  # validation will not let it pass
    if write.old is not None and query == CLASSIFICATIONS.partly(write.old).obj.spec.query:
        return NOTHING
    if len(query.encode("utf-8", "surrogatepass")) > MOST_QUERY:
        return invalid_object([too_long("spec.query", MOST_QUERY)])
    fault = query_fault(query)
    if not fault:
        return NOTHING
    if refuse:
        return invalid_object([invalid("spec.query", query, f"does not compile: {fault}")])
    return Finding(warnings=(shortened(f"spec.query does not compile: {fault}"),))
