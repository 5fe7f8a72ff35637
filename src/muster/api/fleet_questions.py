"""The questions that can be asked of the fleet, as the registry takes them."""

from __future__ import annotations

from typing import Final

from muster.api.fleet_classification import CLASSIFICATION_PREVIEW
from muster.api.fleet_completion import COMPLETION
from muster.api.fleet_evaluation import FLEET_EVALUATION
from muster.api.fleet_explanations import PLACEMENT_EXPLANATION
from muster.api.fleet_facets import FLEET_FACETS
from muster.api.fleet_joining import JOIN_REVIEW
from muster.api.fleet_outlooks import CLUSTER_EXPLANATION, SET_EXPLANATION
from muster.api.fleet_plan import PLAN
from muster.api.fleet_resolution import RESOLUTION_PREVIEW

QUESTIONS: Final = (
    FLEET_EVALUATION,
    FLEET_FACETS,
    COMPLETION,
    PLACEMENT_EXPLANATION,
    CLUSTER_EXPLANATION,
    SET_EXPLANATION,
    PLAN,
    JOIN_REVIEW,
    CLASSIFICATION_PREVIEW,
    RESOLUTION_PREVIEW,
)
