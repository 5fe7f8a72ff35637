"""A conflict as the Operator Lifecycle Manager tells it: clause by clause, in its words and granularity."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from muster.reasons import sentence
from muster.resolution.constraints import forms as c
from muster.resolution.solving import reasons as r
from muster.resolution.solving.clauses import Kind
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.resolution.solving.clauses import Clause


def clause_text(clause: Clause, identifiers: Sequence[str]) -> str:
    """The clause as upstream prints it in an unsatisfiable core."""
    reason: r.ClauseReason = clause.reason
    others = [identifiers[other] for other in clause.others]
    match reason:
        case r.Wanted(want=want, impossible=impossible):
            if clause.kind is Kind.MANDATORY:
                return f"subscription {want.name} exists"
            if impossible is not None and clause.kind is Kind.PROHIBITED:
                return sentence(impossible)
            if not others:
                return f"no operators found matching the criteria of subscription {want.name}"
            listed = others[0] if len(others) == 1 else f"at least one of {', '.join(others[:-1])} or {others[-1]}"
            return f"subscription {want.name} requires {listed}"
        case r.Needs(entry=entry, requirement=requirement):
            return f"bundle {entry.name} requires an operator {constraint_text(requirement.constraint)}"
        case r.OnePackage(package=package):
            return f"{_and(sorted(others))} originate from package {package}"
        case r.OneProvider(api=api):
            return f"{_and(sorted(others))} provide {api}"
        case r.TakesPlace():
            return f"{identifiers[clause.subject]} conflicts with {others[0]}"
        case r.Stays(entry=entry):
            return f"clusterserviceversion {entry.name} exists and is not referenced by a subscription"
        case r.Deprecated(entry=entry):
            return f"bundle {entry.identifier} is deprecated"
        case r.NotAllowed(entry=entry):
            return f"package: {entry.package} is not white listed"
        case r.Faulty(entry=entry, pointer=pointer, message=message):
            return f"bundle {entry.identifier}: {pointer}: {message}"
        case _:
            assert_never(reason)


def _and(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def constraint_text(constraint: c.Constraint) -> str:
    """The constraint in the words of the Operator Lifecycle Manager, which leaves out the word not."""
    match constraint:
        case c.CelConstraint(rule=rule, message=message):
            return f"with constraint: {go_quote(rule)} and message: {go_quote(message if message is not None else '')}"
        case c.PackageConstraint(name=name, version_range=wanted):
            return f"with package: {name} and with version in range: {wanted}"
        case c.ApiConstraint(api=api):
            return f"providing an API with group: {api.group}, version: {api.version}, kind: {api.kind}"
        case c.LabelConstraint(label=label):
            return f"with label: {label}"
        case c.PropertyConstraint(name=name, value_text=text):
            return f"with property: {name} and value: {text}"
        case c.AllConstraint(members=members):
            return " and ".join(map(constraint_text, members))
        case c.AnyConstraint(members=members):
            return " or ".join(map(constraint_text, members))
        case c.NotConstraint(members=members):
            return " and not ".join(map(constraint_text, members))
        case _:
            assert_never(constraint)
