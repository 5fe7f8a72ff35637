"""Open Cluster Management: scheduler, webhooks, controllers, debug server, and proposals that it has not built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.cel.others import CEL_LIBRARY, OCM_EXPRESSIONS
from tests.conformance.ocm_admission import ADMISSION
from tests.conformance.ocm_debugger import DEBUGGER
from tests.conformance.ocm_reevaluation import IN_A_HUB, IN_THE_WORLD
from tests.conformance.ocm_running import SEQUENCES_OVER_HTTP, SETS_OVER_HTTP
from tests.conformance.ocm_scenarios import SCENARIOS
from tests.conformance.ocm_sets import SETS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.conformance.results import Runner

FILES: Mapping[str, Sequence[Runner]] = {
    "admission.json": [ADMISSION],
    "placement_sequences.json": [SCENARIOS, SEQUENCES_OVER_HTTP],
    "placement_*.json": [SCENARIOS],
    "spread_and_sort_proposals.json": [SCENARIOS],
    "clusterset_controllers.json": [SETS, SETS_OVER_HTTP],
    "exclusivekey_proposal.json": [SETS],
    "reevaluation.json": [IN_THE_WORLD, IN_A_HUB],
    "cel_expressions.json": [OCM_EXPRESSIONS],
    "cel_library_upstream.json": [CEL_LIBRARY],
    "debugger_http.json": [DEBUGGER],
}
