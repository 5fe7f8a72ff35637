"""The recorded CEL cases: which suite replays which file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.cel.costs import ESTIMATES
from tests.conformance.cel.parsing import CHECKING, PARSING
from tests.conformance.cel.recorded import ORACLE, RECORDED
from tests.conformance.cel.specification import SPECIFICATION

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.conformance.results import Runner

FILES: Mapping[str, Sequence[Runner]] = {
    "conformance/*.json": [SPECIFICATION],
    "bufbuild_parsing.json": [PARSING],
    "bufbuild_comprehension.json": [PARSING],
    "bufbuild_checking.json": [CHECKING],
    "cost_estimates.json": [ESTIMATES],
    "runtime_costs.json": [RECORDED],
    "ocm_placement.json": [RECORDED],
    "oracle_*.json": [ORACLE],
    "celgo_*.json": [RECORDED],
    "ext_*.json": [RECORDED],
    "k8s_*.json": [RECORDED],
}
GOALS = {"texts": 0.95, "costs": 0.98}
