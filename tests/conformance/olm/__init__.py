"""The recorded cases of the Operator Lifecycle Manager: which suites replay which file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.cel.others import OLM_CEL
from tests.conformance.olm import parts
from tests.conformance.olm.rows import OWN_ROWS, UPSTREAM_ROWS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.conformance.results import Runner

FILES: Mapping[str, Sequence[Runner]] = {
    "cel.json": [OLM_CEL, parts.OWN_CEL],
    "constraints_api.json": [parts.CONSTRAINTS_API],
    "fail_forward.json": [parts.FAIL_FORWARD],
    "resolver_*.json": [UPSTREAM_ROWS, OWN_ROWS],
    "semver.json": [parts.SEMVER],
    "solver.json": [parts.SOLVER],
    "sort_channel.json": [parts.SORT_CHANNEL],
    "syntax_normalise.json": [parts.SYNTAX],
    "upstream_defects.json": [parts.DEFECTS_OF_SOLVER, parts.DEFECTS],
}
