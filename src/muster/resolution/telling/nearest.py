"""What came nearest to a requirement that nothing meets: which part of it was not true, and of what values."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from muster.cel.syntax.traversal import descendants
from muster.cel.syntax.tree import Call, Literal
from muster.cel.syntax.unparser import unparse
from muster.errors import EvaluationError
from muster.resolution.constraints import forms as c
from muster.resolution.constraints.rules import COST_LIMIT, compile_rule
from muster.resolution.telling.versions import merged
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.syntax.tree import Expr
    from muster.resolution.catalog.bundles import Bundle
    from muster.resolution.constraints.matching import Matcher

_SHOWN = 3  # near misses
_MOST_VALUE = 120  # characters of a value
_LOOKED_AT = 2_000  # bundles a rule is traced on, at most
_MOST_COST = 500_000  # and what all of that may cost; tracing is slow


def near_misses(constraint: c.Constraint, bundles: Sequence[Bundle], matcher: Matcher, *, upstream: bool) -> list[str]:
    """Up to three lines; none if there is nothing to say."""
    match constraint:
        case c.PackageConstraint(name=name):
            return _other_versions(name, bundles)
        case c.ApiConstraint(api=api):
            close = sorted({f"{each}" for b in bundles for each in b.apis if each.kind == api.kind and each != api})
            return [f"there is {', '.join(close[:_SHOWN])}"] if close else []
        case c.CelConstraint(rule=rule):
            return _rule_misses(rule, bundles, matcher, upstream=upstream)
        case c.PropertyConstraint(name=name):
            return _property_misses(name, constraint.value, bundles)
        case c.LabelConstraint(label=label):
            close = difflib.get_close_matches(label, sorted({each for b in bundles for each in b.labels}), n=_SHOWN)
            return [f"there is the label {', '.join(close)}"] if close else []
        case c.AnyConstraint(members=members):
            found = (near_misses(member, bundles, matcher, upstream=upstream)[:1] for member in members[:_SHOWN])
            return list(dict.fromkeys(line for lines in found for line in lines))
        case c.AllConstraint(members=members) if members:
            return _compound_misses(members, bundles, matcher, upstream=upstream)
        case _:
            return []


def _other_versions(name: str, bundles: Sequence[Bundle]) -> list[str]:
    own = [bundle for bundle in bundles if bundle.package == name or any(p.name == name for p in bundle.packages)]
    if own:
        return [f"{name} is there in {merged(own, own)}"]
    close = difflib.get_close_matches(name, sorted({bundle.package for bundle in bundles}), n=1)
    return [f"no catalog has a package {name}" + (f"; did you mean {close[0]}?" if close else "")]


def _property_misses(name: str, wanted: Json, bundles: Sequence[Bundle]) -> list[str]:
    """Properties of that type with other values; the trap is a number that is a text elsewhere."""
    lines: dict[str, None] = {}
    for bundle in sorted(bundles, key=lambda each: each.name):
        for each in bundle.properties():
            if each.type == name and each.readable:
                alike = str(each.value) == str(wanted)
                trap = f", which is not {_sort(wanted)}" if alike else ""
                lines[f"{bundle.name}: it has {name} = {_shortened(c.value_text(each.value))}{trap}"] = None
        if len(lines) >= _SHOWN:
            break
    return list(lines)[:_SHOWN]


def _sort(value: Json) -> str:
    return "a text" if isinstance(value, str) else "a number" if isinstance(value, int | float) else "the same"


def _compound_misses(
    members: tuple[c.Constraint, ...], bundles: Sequence[Bundle], matcher: Matcher, *, upstream: bool
) -> list[str]:
    """The bundles that meet most members, and what the first unmet one lacks."""
    checks = [matcher.check(member) for member in members]
    met = {bundle: sum(check(bundle) for check in checks) for bundle in bundles}
    best = sorted((bundle for bundle in bundles if met[bundle]), key=lambda b: (-met[b], b.name))[:_SHOWN]
    lines = []
    for bundle in best:
        unmet = next(m for m, check in zip(members, checks, strict=True) if not check(bundle))
        inner = near_misses(unmet, [bundle], matcher, upstream=upstream) if isinstance(unmet, c.CelConstraint) else []
        detail = inner[0].partition(": ")[2] if inner else _unlike(unmet, bundle, matcher)
        said = f" ({unmet.message})" if unmet.message else ""
        lines.append(f"{bundle.name}: {detail}{said}")
    return lines


def _unlike(unmet: c.Constraint, bundle: Bundle, matcher: Matcher) -> str:
    if isinstance(unmet, c.NotConstraint):
        met = next(member for member in unmet.members if matcher.check(member)(bundle))
        return f"it is one {c.described(met)}"
    return f"it is no operator {c.described(unmet)}"


def _rule_misses(rule: str, bundles: Sequence[Bundle], matcher: Matcher, *, upstream: bool) -> list[str]:
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
    lines = []
    for *_, bundle, values in ranked[:_SHOWN]:
        part = next((part for part in parts if _last(values, part) is not True), parts[0])
        value = _last(values, part)
        text = unparse(program.tree, part)
        verdict = f"failed: {value}" if isinstance(value, EvaluationError) else "is false"
        lines.append(f"{bundle.name}: {text} {verdict}{_actual(bundle, mentioned)}")
    return lines


def _actual(bundle: Bundle, mentioned: set[Json]) -> str:
    """The properties that the rule speaks of, with the values they have."""
    found = [
        f"{each.type} = {_shortened(c.value_text(each.value))}"
        for each in bundle.properties()
        if each.readable and each.type in mentioned
    ]
    return f"; it has {', '.join(found[:_SHOWN])}" if found else "; it has no such property"


def _shortened(text: str) -> str:
    return text if len(text) <= _MOST_VALUE else f"{text[:_MOST_VALUE]}…"


def _last(values: Json, node: Expr) -> Json:
    seen = values.get(node.id)
    return seen[-1] if seen else None


def _conjuncts(node: Expr) -> list[Expr]:
    if isinstance(node, Call) and node.function == "_&&_":
        return [part for argument in node.args for part in _conjuncts(argument)]
    return [node]
