"""AgentClassification: the query is compiled when it is written.

One that cannot run is stored with a warning, or kept out where the administrator says so.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.admission.placement import shortened
from muster.admission.write import NOTHING, Finding, invalid_object, spec_of
from muster.errors import InvalidExpressionError
from muster.values.causes import invalid

if TYPE_CHECKING:
    from muster.admission.write import Write


def query_checked(write: Write, *, refuse: bool) -> Finding:
    """Warns of a query that does not compile, or refuses it; its condition would say the same."""
    new = write.new
    if new is None or write.subresource:
        return NOTHING
    query = spec_of(new).get("query")
    if not isinstance(query, str) or query == spec_of(write.old).get("query"):
        return NOTHING
    from muster.jq import compile_query  # most writes need no jq, and it takes a while to load

    try:
        compile_query(query)
    except InvalidExpressionError as error:
        if refuse:
            return invalid_object([invalid("spec.query", query, f"does not compile: {error}")])
        return Finding(warnings=(shortened(f"spec.query does not compile: {error}"),))
    return NOTHING
