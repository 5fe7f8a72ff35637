"""The recorded costs: estimates before running, and what running cost."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muster.cel.checking import types
from muster.cel.checking.checker import check
from muster.cel.checking.unification import displayed
from muster.cel.costs.charge import KUBERNETES
from muster.cel.costs.charging import Charging
from muster.cel.costs.estimate import estimate_cost
from muster.cel.costs.ranges import Range
from muster.cel.declarations import Variable
from muster.cel.syntax.parser import parse
from muster.errors import InvalidExpressionError
from tests.conformance.cel.calls import calls
from tests.conformance.cel.environments import (
    GENERATED,
    TESTS,
    case_environment,
    has_generated_types,
    is_kubernetes,
    needs_unbuilt,
)
from tests.conformance.cel.messages import MESSAGES, needs_messages
from tests.conformance.cel.recorded import OWN, UNBUILT
from tests.conformance.cel.values import parse_type
from tests.conformance.suites import PLAIN, Apart, Kind, Suite, Verdict, by, keys

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.checking.types import Type
    from muster.cel.environment import Env


@dataclass
class _Place:
    """What the size hints of a case say about one path of its variables."""

    type: str = ""
    below: dict[str, _Place] = field(default_factory=dict)


@dataclass(frozen=True)
class _HintedTypes:
    """Object types made up from the hints; another field is an object if something is selected from it."""

    fields: dict[str, dict[str, Type]]
    objects: frozenset[str]

    def find_struct(self, name: str) -> Type | None:
        return types.struct(name) if name in self.fields else None

    def find_field(self, struct: str, name: str) -> Type | None:
        if struct not in self.fields:
            return None
        return self.fields[struct].get(name, types.struct("hinted") if name in self.objects else types.DYN)


def _places(hints: dict[str, Any]) -> _Place:
    root = _Place()
    for key in hints:
        path, _, text = key.rpartition("|")
        place = root
        for step in path.split(".") if path else ():
            place = place.below.setdefault(step, _Place())
        place.type = text
    return root


def _hinted_environment(case: Mapping[str, Any], env: Env) -> Env:
    """Variables whose generated types are not known get types from the paths that the estimator asked about."""
    fields: dict[str, dict[str, Type]] = {"hinted": {}}

    def typed(place: _Place, name: str) -> Type:
        if "@items" in place.below:
            return types.list_of(typed(place.below["@items"], f"{name}.@items"))
        if "@values" in place.below or "@keys" in place.below:
            value = place.below.get("@values")
            return types.map_of(types.STRING, typed(value, f"{name}.@values") if value else _plain(place.type, 1))
        if place.below or "Type" in place.type:
            if place.type.startswith(("list(", "map(")):
                return _plain(place.type)
            fields[name] = {step: typed(below, f"{name}.{step}") for step, below in place.below.items()}
            return types.struct(name)
        return _plain(place.type) if place.type else types.DYN

    def _plain(text: str, parameter: int | None = None) -> Type:
        try:
            parsed = parse_type(text)
        except (ValueError, IndexError):
            return types.DYN
        if parameter is not None:
            return parsed.params[parameter] if len(parsed.params) > parameter else types.DYN
        return _known(parsed)

    def _known(parsed: Type) -> Type:
        if parsed.kind is types.Kind.STRUCT:
            fields.setdefault(parsed.name, {})
        for param in parsed.params:
            _known(param)
        return parsed

    root = _places(case.get("size_hints") or {})
    declared = [
        Variable(name, typed(root.below.get(name, _Place(type="selfType")), f"hinted.{name}"))
        for name, text in case["decls"].items()
        if GENERATED.fullmatch(text)  # others are declared with dyn in place of the type
    ]
    objects = frozenset(re.findall(r"\.(\w+)(?=\.\w+\b(?!\())", case["expr"]))
    return env.extend(variables=declared, types=_HintedTypes(fields, objects))


def _hints(case: Mapping[str, Any]) -> Any:
    recorded = case.get("size_hints")
    if recorded is not None:
        by_path = {key.rpartition("|")[0]: value for key, value in recorded.items()}

        def recorded_size(path: tuple[str, ...], of: Type) -> Range | None:
            joined = ".".join(path)
            known = recorded.get(f"{joined}|{displayed(of)}")
            if known is None and path:
                known = by_path.get(joined)
            return Range(int(known[0]), int(known[1])) if known else None

        return recorded_size
    hints = case.get("hints") or {}

    def test_size(path: tuple[str, ...], of: Type) -> Range | None:
        known = hints.get(".".join(path))
        if known is not None:
            return Range(0, int(known))
        return Range(0, 12) if of.kind is types.Kind.BYTES else None

    return test_size


def _charging(case: Mapping[str, Any]) -> Charging:
    presence = 1 if case["presence_test_has_cost"] else 0
    if case.get("name", "").endswith("no has() cost"):
        presence = 0
    if "test_estimator" in case:
        return Charging((TESTS,), presence)
    return Charging((KUBERNETES,) if is_kubernetes(case) else (), presence)


def classify(case: Mapping[str, Any]) -> Kind:
    if needs_messages(case["expr"], case.get("container", ""), case["decls"], case.get("vars")):
        return Apart(MESSAGES)
    if needs_unbuilt(case):
        return Apart(UNBUILT)
    env = case_environment(case)
    functions = {*env.functions, *(name for name, _, _ in env.macros)}
    called = {each.name for each in calls(case["expr"])}
    if any(name not in functions and not any(known.endswith(f".{name}") for known in functions) for name in called):
        return Apart(OWN)
    return PLAIN


def run(case: Mapping[str, Any]) -> Range | str:
    env = case_environment(case)
    if has_generated_types(case):
        env = _hinted_environment(case, env)
    try:
        checked = check(parse(case["expr"], env), env)
    except InvalidExpressionError as error:
        return str(error)
    return estimate_cost(checked, env, _charging(case), _hints(case))


def judge(case: Mapping[str, Any], _: Kind, ours: Range | str) -> Verdict:
    wanted = Range(int(case["cost_min"]), int(case["cost_max"]))
    if isinstance(ours, str):
        return Verdict((f"wanted {wanted}, does not compile: {ours}",), cost_ok=False)
    return Verdict(cost_ok=ours == wanted, remarks="" if ours == wanted else f"wanted {wanted}, got {ours}")


ESTIMATES = Suite(
    cases=list,
    name=lambda case: f"{case['expr'][:100]!r} ({case.get('source', '')})",
    classify=classify,
    running=by(run),
    judge=judge,
    shape=keys(
        "expr decls vars expect error cost_min cost_max size_hints estimator_calls estimator presence_test_has_cost"
        " source libs hints name n_options test_estimator type container note"
    ),
)
