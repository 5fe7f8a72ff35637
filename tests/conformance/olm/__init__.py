"""Runners of the recorded cases of the Operator Lifecycle Manager, by file."""

from __future__ import annotations

from tests.conformance.olm.parts import (
    run_cel,
    run_constraints_api,
    run_defects,
    run_fail_forward,
    run_semver,
    run_solver,
    run_sort_channel,
    run_syntax,
)
from tests.conformance.olm.rows import run_rows

FILES = {
    "cel.json": run_cel,
    "constraints_api.json": run_constraints_api,
    "fail_forward.json": run_fail_forward,
    "resolver_edge.json": run_rows,
    "resolver_edge_large.json": run_rows,
    "resolver_upstream.json": run_rows,
    "semver.json": run_semver,
    "solver.json": run_solver,
    "sort_channel.json": run_sort_channel,
    "syntax_normalise.json": run_syntax,
    "upstream_defects.json": run_defects,
}
