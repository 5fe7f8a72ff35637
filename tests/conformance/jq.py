"""The recorded cases of gojq, jq's own suite and assisted-service: which suite replays which file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.conformance.jq_classification import CLASSIFICATION
from tests.conformance.jq_differences import JQ
from tests.conformance.jq_gojq import BUILTINS, GOJQ, OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.conformance.results import Runner

FILES: Mapping[str, Sequence[Runner]] = {
    "gojq.json": [GOJQ],
    "jq.json": [JQ],
    "classify_outcomes.json": [OUTCOMES],
    "gojq_builtins.json": [BUILTINS],
    "agentclassification.json": [CLASSIFICATION],
}
GOALS = {"texts": 0.95}
