"""Which environment charges how: the runtime costs, the estimates and the treatment of constants, by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.cel.costs.library_costs import CEL_COSTS, KUBERNETES_COSTS, MUSTER_COSTS, OCM_COSTS
from muster.cel.costs.library_estimates import CEL_ESTIMATES, KUBERNETES_ESTIMATES, MUSTER_ESTIMATES, OCM_ESTIMATES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.costs.estimate import EstimateModel
    from muster.cel.costs.runtime import CostModel
    from muster.cel.environment import Env


@dataclass(frozen=True, slots=True)
class Charging:
    """Costs, estimates, and whether constants are folded first. `lenient`: a constant that fails does so when run."""

    costs: CostModel
    estimates: EstimateModel
    optimize: bool = False
    lenient: bool = False


STANDARD_CHARGING = Charging(CEL_COSTS, CEL_ESTIMATES)
KUBERNETES_CHARGING = Charging(KUBERNETES_COSTS, KUBERNETES_ESTIMATES, optimize=True)
_BY_NAME: Mapping[str, Charging] = {
    "ocm": Charging(OCM_COSTS, OCM_ESTIMATES),
    "muster": Charging(MUSTER_COSTS, MUSTER_ESTIMATES, optimize=True, lenient=True),
}


def charging_of(env: Env) -> Charging:
    """An environment made from a named one keeps its name, and so charges as that one does."""
    if env.name.startswith("kubernetes-"):
        return KUBERNETES_CHARGING
    return _BY_NAME.get(env.name, STANDARD_CHARGING)
