"""Which environment charges how: whose numbers count, and the treatment of constants, by its name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.cel.costs.charge import KUBERNETES, LANGUAGE, LIBRARY, OCM
from muster.cel.costs.meter import WORK_LIMIT
from muster.cel.costs.runtime import ONE, SELECT, first_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muster.cel.costs.charge import Charge, Tariff
    from muster.cel.costs.operands import CallFormula
    from muster.cel.costs.runtime import Price
    from muster.cel.declarations import Function
    from muster.cel.environment import Env


@dataclass(frozen=True, slots=True)
class Charging:
    """Who is asked between a function's library and the language itself, and what else differs.

    `presence_test` is what has() itself costs. With `optimize` constants are folded first; with `lenient` a constant
    that fails does so when run. `work_limit` bounds what calls build and compare beyond what cost counts.
    """

    estimators: tuple[Tariff, ...] = ()
    presence_test: int = SELECT
    optimize: bool = False
    lenient: bool = False
    work_limit: int = WORK_LIMIT

    def price(self, function: Function | None, overload_id: str) -> Price:
        """What a call costs when it runs. The overload is not known ("") where types were not known either."""
        charges = self._charges(function, overload_id)
        prices = tuple(charge.price for charge in charges if charge.price is not None)
        if not prices:
            return ONE
        return first_of((*prices, ONE)) if prices[0].declines else prices[0]

    def estimates(self, function: Function | None, overload_id: str) -> Iterator[CallFormula]:
        """The formulas for what it may cost, in the order in which they are asked."""
        return (charge.estimate for charge in self._charges(function, overload_id) if charge.estimate is not None)

    def _charges(self, function: Function | None, overload_id: str) -> Iterator[Charge]:
        if function is None:
            return
        overload = next((each for each in function.overloads if each.id == overload_id), None)
        for tariff in (LIBRARY, *self.estimators, LANGUAGE):
            if overload is not None and tariff in overload.charges:
                yield overload.charges[tariff]
            if tariff in function.charges:
                yield function.charges[tariff]


STANDARD_CHARGING = Charging()
KUBERNETES_CHARGING = Charging((KUBERNETES,), presence_test=0, optimize=True)
_BY_NAME: Mapping[str, Charging] = {
    "ocm": Charging((OCM,)),
    "muster": Charging((KUBERNETES, OCM), presence_test=0, optimize=True, lenient=True),
}


def charging_of(env: Env) -> Charging:
    """An environment made from a named one keeps its name, and so charges as that one does."""
    if env.name.startswith("kubernetes-"):
        return KUBERNETES_CHARGING
    return _BY_NAME.get(env.name, STANDARD_CHARGING)
