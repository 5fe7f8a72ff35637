"""Who is asked what a call costs, and in which order; what the environments make of the same call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muster.cel import Function, Overload, environment, make_program
from muster.cel.checking.types import BOOL, STRING
from muster.cel.costs.charge import KUBERNETES, LANGUAGE, LIBRARY, OCM, Charge, Tariff
from muster.cel.costs.charging import Charging, charging_of
from muster.cel.costs.meter import new_meter
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import exactly
from muster.cel.costs.runtime import Price, fixed

if TYPE_CHECKING:
    from muster.cel.costs.operands import Arguments, Operand


def charge(cost: int) -> Charge:
    def estimate(_: Operand | None, __: Arguments) -> CallEstimate:
        return CallEstimate(exactly(cost))

    return Charge(fixed(cost), estimate)


def function(overload: dict[Tariff, Charge], by_name: dict[Tariff, Charge]) -> Function:
    return Function(
        "loud", (Overload("loud_string", (STRING,), BOOL, str.isupper, member=True, charges=overload),), charges=by_name
    )


@pytest.mark.parametrize(
    ("overload", "by_name", "cost"),
    [
        ({}, {}, 1),
        ({LANGUAGE: charge(2)}, {}, 2),
        ({LANGUAGE: charge(2)}, {KUBERNETES: charge(3)}, 3),
        ({LANGUAGE: charge(2), KUBERNETES: charge(4)}, {KUBERNETES: charge(3)}, 4),
        ({LIBRARY: charge(5), LANGUAGE: charge(2)}, {KUBERNETES: charge(3)}, 5),
        ({}, {OCM: charge(6)}, 6),
        ({}, {KUBERNETES: charge(3), OCM: charge(6)}, 3),
        ({}, {Tariff("somebody else"): charge(7)}, 1),
    ],
)
def test_a_library_is_asked_first_then_the_estimators_in_their_order_then_the_language(
    overload: dict[Tariff, Charge], by_name: dict[Tariff, Charge], cost: int
) -> None:
    env = environment("muster").extend(functions=[function(overload, by_name)])
    program = make_program("managedCluster.metadata.name.loud()", env)
    variables = {"managedCluster": {"metadata": {"name": "A"}}}
    assert program.cost(variables) == 3 + cost  # and three for the name
    assert program.trace(variables).cost == 3 + cost
    of_name = make_program("managedCluster.metadata.name", env).estimate()
    assert program.estimate() == of_name.plus(exactly(cost))


def test_a_price_that_declines_leaves_the_call_to_the_next() -> None:
    def by_size(args: tuple[str], _: object) -> int | None:
        return None if len(args[0]) > 3 else 10

    declared = function({KUBERNETES: Charge(Price(by_size, declines=True)), LANGUAGE: charge(2)}, {})
    price = Charging((KUBERNETES,)).price(declared, "loud_string")
    assert [price(new_meter(), (text,), None) for text in ("A", "AAAA")] == [10, 2]


def test_by_name_also_calls_are_charged_of_which_the_overload_is_not_known() -> None:
    declared = function({LANGUAGE: charge(2), KUBERNETES: charge(4)}, {KUBERNETES: charge(3)})
    assert Charging((KUBERNETES,)).price(declared, "").fixed == 3
    assert Charging().price(declared, "").fixed == 1
    assert Charging((KUBERNETES,)).price(None, "loud_string").fixed == 1


COSTS: dict[str, tuple[int | None, ...]] = {
    # kubernetes-1.28, 1.34, 1.37, ocm, olm, muster, standard; None where there is no such function
    "'a b'.replace(' ', '').size() == 2": (3, 3, 3, 6, None, 3, 6),
    "'abc'.indexOf('c') == 2": (1, 1, 1, 3, None, 1, 3),
    "'abc'.charAt(0) == 'a'": (2, 2, 2, 4, None, 2, 4),
    "['a', 'b'].join('-') == 'a-b'": (2, 2, 2, 16, None, 2, 16),
    "[1, 2].sum() == 3": (3, 3, 3, 12, None, 3, None),
    "[3, 1].sort() == [1, 3]": (None, 20, 20, None, None, 20, 40),
    "sets.contains([1, 2], [1])": (None, 3, 3, None, None, 3, 23),
    "quantity('1000m') == quantity('1')": (3, 3, 3, 3, None, 3, None),
    "quantity('100000000000') == quantity('1')": (4, 4, 4, 3, None, 4, None),
    "'[1]'.parseJSON() == [1.0]": (None, None, None, 22, None, 12, None),
    "'abcdefghijkl'.startsWith('abcdefghijkl')": (2, 2, 2, 2, 2, 2, 2),
}
ENVIRONMENTS = ("kubernetes-1.28", "kubernetes-1.34", "kubernetes-1.37", "ocm", "olm", "muster", "standard")


@pytest.mark.parametrize("text", COSTS)
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_every_environment_charges_as_the_program_that_it_is_named_after(name: str, text: str) -> None:
    expected = COSTS[text][ENVIRONMENTS.index(name)]
    env = environment(name)
    if expected is None:
        with pytest.raises(Exception, match="undeclared reference"):
            make_program(text, env)
    else:
        assert make_program(text, env).cost({}) == expected


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment_made_from_a_named_one_charges_alike(name: str) -> None:
    env = environment(name)
    assert charging_of(env.extend(container="somewhere")) == charging_of(env)
