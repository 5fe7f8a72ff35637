"""What came nearest to a requirement that nothing meets: which part of it was not true, and of what values.

Stories of failure and findings in catalogs have it beside the requirement.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

import msgspec

from muster.cel.syntax.traversal import descendants
from muster.cel.syntax.tree import Call, Literal
from muster.cel.syntax.unparser import unparse
from muster.errors import EvaluationError
from muster.reasons import Code, Reason, Subject
from muster.resolution.constraints import forms as c
from muster.resolution.constraints.reasons import what_is_asked
from muster.resolution.constraints.rules import COST_LIMIT, compile_rule
from muster.resolution.telling.versions import merged
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.syntax.tree import Expr
    from muster.reasons import Parameter
    from muster.resolution.catalog.bundles import Bundle
    from muster.resolution.constraints.matching import Matcher

_SHOWN = 3  # near misses
_MOST_VALUE = 120  # characters of a value
_LOOKED_AT = 2_000  # bundles a rule is traced on, at most
_MOST_COST = 500_000  # and what all of that may cost; tracing is slow


def near_misses(
    constraint: c.Constraint, bundles: Sequence[Bundle], matcher: Matcher, *, upstream: bool
) -> list[Reason]:
    """Up to three; none if there is nothing to say."""
    match constraint:
        case c.PackageConstraint(name=name):
            return _other_versions(name, bundles)
        case c.ApiConstraint(api=api):
            close = sorted({f"{each}" for b in bundles for each in b.apis if each.kind == api.kind and each != api})
            return [Reason(Code.APIS_PRESENT, parameters={"apis": tuple(close[:_SHOWN])})] if close else []
        case c.CelConstraint(rule=rule):
            return _rule_misses(rule, bundles, matcher, upstream=upstream)
        case c.PropertyConstraint(name=name):
            return _property_misses(name, constraint.value, bundles)
        case c.LabelConstraint(label=label):
            close = difflib.get_close_matches(label, sorted({each for b in bundles for each in b.labels}), n=_SHOWN)
            return [Reason(Code.LABELS_PRESENT, parameters={"labels": tuple(close)})] if close else []
        case c.AnyConstraint(members=members):
            found = (near_misses(member, bundles, matcher, upstream=upstream)[:1] for member in members[:_SHOWN])
            return list(dict.fromkeys(miss for misses in found for miss in misses))
        case c.AllConstraint(members=members) if members:
            return _compound_misses(members, bundles, matcher, upstream=upstream)
        case _:
            return []


def _other_versions(name: str, bundles: Sequence[Bundle]) -> list[Reason]:
    subject = Subject(package=name)
    own = [bundle for bundle in bundles if bundle.package == name or any(p.name == name for p in bundle.packages)]
    if own:
        return [Reason(Code.VERSIONS_PRESENT, subject, {"versions": merged(own, own)})]
    close = difflib.get_close_matches(name, sorted({bundle.package for bundle in bundles}), n=1)
    return [Reason(Code.PACKAGE_UNKNOWN, subject, {"close": close[0]} if close else {})]


def _property_misses(name: str, wanted: Json, bundles: Sequence[Bundle]) -> list[Reason]:
    """Properties of that type with other values; the trap is a number that is a text elsewhere."""
    misses: dict[Reason, None] = {}
    for bundle in sorted(bundles, key=lambda each: each.name):
        for each in bundle.properties():
            if each.type == name and each.readable:
                told = {"property": name, "value": _shortened(c.value_text(each.value))}
                if str(each.value) == str(wanted):
                    told["not"] = _sort(wanted)
                misses[Reason(Code.PROPERTY_DIFFERS, Subject(bundle=bundle.name), told)] = None
        if len(misses) >= _SHOWN:
            break
    return list(misses)[:_SHOWN]


def _sort(value: Json) -> str:
    return "a text" if isinstance(value, str) else "a number" if isinstance(value, int | float) else "the same"


def _compound_misses(
    members: tuple[c.Constraint, ...], bundles: Sequence[Bundle], matcher: Matcher, *, upstream: bool
) -> list[Reason]:
    """The bundles that meet most members, and what the first unmet one lacks."""
    checks = [matcher.check(member) for member in members]
    met = {bundle: sum(check(bundle) for check in checks) for bundle in bundles}
    best = sorted((bundle for bundle in bundles if met[bundle]), key=lambda b: (-met[b], b.name))[:_SHOWN]
    misses = []
    for bundle in best:
        unmet = next((m for m, check in zip(members, checks, strict=True) if not check(bundle)), None)
        if unmet is None:
            misses.append(Reason(Code.NOT_A_CANDIDATE, Subject(bundle=bundle.name)))
            continue
        inner = near_misses(unmet, [bundle], matcher, upstream=upstream) if isinstance(unmet, c.CelConstraint) else []
        misses.append(_with_message(inner[0] if inner else _unlike(unmet, bundle, matcher), unmet.message))
    return misses


def _unlike(unmet: c.Constraint, bundle: Bundle, matcher: Matcher) -> Reason:
    subject = Subject(bundle=bundle.name)
    if isinstance(unmet, c.NotConstraint):
        met = next(member for member in unmet.members if matcher.check(member)(bundle))
        return Reason(Code.MEMBER_MET, subject, parts=(what_is_asked(met),))
    return Reason(Code.MEMBER_UNMET, subject, parts=(what_is_asked(unmet),))


def _with_message(miss: Reason, message: str | None) -> Reason:
    """With what the author says of the part that is not met."""
    if not message:
        return miss
    return msgspec.structs.replace(miss, parameters={**miss.parameters, "messages": (message,)})


def _rule_misses(rule: str, bundles: Sequence[Bundle], matcher: Matcher, *, upstream: bool) -> list[Reason]:
    """The bundles for which most of the rule's conjuncts are true, or that at least have what the rule speaks of."""
    program = compile_rule(rule, upstream=upstream)
    parts = _conjuncts(program.tree.expr)
    mentioned = {node.value for node in descendants(program.tree.expr) if isinstance(node, Literal)}
    spent = 0
    ranked: list[tuple[int, int, str, Bundle, dict[int, Json]]] = []
    for bundle in sorted(bundles, key=lambda each: each.name)[:_LOOKED_AT]:
        related = sum(each.type in mentioned for each in bundle.properties())
        trace = program.trace(matcher.variables(bundle), COST_LIMIT)
        spent += trace.cost
        true = sum(_last(trace.values, part) is True for part in parts)
        if related or true or isinstance(trace.outcome, EvaluationError):
            ranked.append((-true, -related, bundle.name, bundle, dict(trace.values)))
        if spent > _MOST_COST:
            break
    ranked.sort(key=lambda row: row[:3])
    misses = []
    for *_, bundle, values in ranked[:_SHOWN]:
        part = next((part for part in parts if _last(values, part) is not True), parts[0])
        value = _last(values, part)
        subject = Subject(bundle=bundle.name, expression=unparse(program.tree, part))
        told: dict[str, Parameter] = {"properties": _actual(bundle, mentioned)}
        if isinstance(value, EvaluationError):
            misses.append(Reason(Code.RULE_FAILED, subject, {"message": str(value), **told}))
        else:
            misses.append(Reason(Code.RULE_FALSE, subject, told))
    return misses


def _actual(bundle: Bundle, mentioned: set[Json]) -> tuple[str, ...]:
    """The properties that the rule speaks of, with the values they have; the first few."""
    found = [
        f"{each.type} = {_shortened(c.value_text(each.value))}"
        for each in bundle.properties()
        if each.readable and each.type in mentioned
    ]
    return tuple(found[:_SHOWN])


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_VALUE else f"{text[:_MOST_VALUE]}…"


def _last(values: Json, node: Expr) -> Json:
    seen = values.get(node.id)
    return seen[-1] if seen else None


def _conjuncts(node: Expr) -> list[Expr]:
    if isinstance(node, Call) and node.function == "_&&_":
        return [part for argument in node.args for part in _conjuncts(argument)]
    return [node]
