"""The answer: what to install, update and keep, who asked for it, and what was preferred but could not be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from muster.resolution.catalog.bundles import Entry
from muster.resolution.catalog.catalog import ChannelKey
from muster.resolution.constraints.forms import described
from muster.resolution.request import is_cluster
from muster.resolution.solving import reasons as r
from muster.resolution.solving.clauses import Kind
from muster.resolution.telling.passed_over import why_passed_over
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.resolution.catalog.catalog import Fault
    from muster.resolution.solving.clauses import Clause, Solution
    from muster.resolution.solving.problem import Problem


class Action(StrEnum):
    """What becomes of an operator."""

    INSTALL = "install"
    UPDATE = "update"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class PassedOver:
    """A candidate that was preferred to the one chosen, and why it could not be."""

    name: str
    version: str
    channel: str
    catalog: str
    why: str


@dataclass(frozen=True, slots=True)
class Step:
    """One operator of the plan."""

    action: Action
    name: str
    package: str
    version: str
    channel: str
    catalog: str
    replaces: str
    asked_by: tuple[str, ...]
    needs: tuple[str, ...]  # names of the bundles that meet its requirements
    passed_over: tuple[PassedOver, ...]

    def to_json(self) -> JsonObject:
        found: JsonObject = {
            "action": self.action.value,
            "name": self.name,
            "package": self.package,
            "version": self.version,
        }
        optional = {"channel": self.channel, "catalog": self.catalog, "replaces": self.replaces}
        found |= {name: value for name, value in optional.items() if value}
        found["askedBy"] = list(self.asked_by)
        if self.needs:
            found["needs"] = list(self.needs)
        if self.passed_over:
            found["passedOver"] = [
                {
                    "name": each.name,
                    "version": each.version,
                    "channel": each.channel,
                    "catalog": each.catalog,
                    "why": each.why,
                }
                for each in self.passed_over
            ]
        return found


@dataclass(frozen=True, slots=True)
class Plan:
    """Every operator that will be there, in the order of deciding; what is said aloud; what was taken out."""

    steps: tuple[Step, ...]
    notes: tuple[str, ...] = ()
    faults: tuple[Fault, ...] = ()

    def step(self, package: str) -> Step | None:
        """The operator of a package, or of a bundle's name."""
        return next((step for step in self.steps if package in (step.package, step.name)), None)

    def to_json(self) -> JsonObject:
        return {
            "plan": [step.to_json() for step in self.steps],
            "notes": list(self.notes),
            "faults": [str(fault) for fault in self.faults],
        }


def make_plan(problem: Problem, solution: Solution) -> Plan:
    """Put the solution into words. Reasons come from the decisions that were taken, not from a second thought."""
    chosen = set(solution.chosen)
    wanted_by = _who_asked(problem, chosen)
    choice_of = {choice.chosen: choice for choice in solution.choices}
    met_by = _met_by(problem, chosen)
    steps = []
    for number in solution.chosen:
        variable = problem.variables[number]
        if not isinstance(variable, Entry) or is_cluster(variable):
            continue
        passed = tuple(
            PassedOver(
                entry.name,
                entry.bundle.version_text,
                entry.channel,
                entry.catalog.name,
                why_passed_over(problem, solution, choice_of[number], candidate),
            )
            for candidate in choice_of[number].passed_over
            for entry in [problem.entry(candidate)]
        )
        steps.append(_step(problem, number, variable, tuple(wanted_by.get(number, ())), met_by.get(number, ()), passed))
    return Plan(tuple(steps), tuple(_notes(problem, solution)), tuple(problem.faults))


def _step(
    problem: Problem,
    number: int,
    entry: Entry,
    asked_by: tuple[str, ...],
    needs: tuple[str, ...],
    passed: tuple[PassedOver, ...],
) -> Step:
    current = problem.replaced.get(number)
    action = Action.KEEP if entry.installed else Action.UPDATE if current is not None else Action.INSTALL
    replaces = current.name if current is not None else entry.replaces
    return Step(
        action=action,
        name=entry.name,
        package=entry.package,
        version=entry.bundle.version_text,
        channel=entry.channel,
        catalog="" if entry.installed else entry.catalog.name,
        replaces=replaces,
        asked_by=asked_by,
        needs=needs,
        passed_over=passed,
    )


def _who_asked(problem: Problem, chosen: set[int]) -> dict[int, list[str]]:
    asked: dict[int, list[str]] = {}
    for clause in problem.clauses:
        if clause.subject not in chosen:
            continue
        if clause.kind is Kind.MANDATORY and isinstance(clause.reason, r.Stays):
            asked.setdefault(clause.subject, []).append("it is installed and no want owns it")
        if clause.kind in (Kind.DEPENDENCY, Kind.OPTIONAL):
            meeting = next((other for other in clause.others if other in chosen), None)
            if meeting is not None and meeting != clause.subject:
                asked.setdefault(meeting, []).append(_asking(clause))
    return {number: list(dict.fromkeys(texts)) for number, texts in asked.items()}


def _asking(clause: Clause) -> str:
    match clause.reason:
        case r.Wanted(want=want):
            return f"you want {want}"
        case r.Needs(entry=entry, requirement=requirement):
            verb = "would like" if requirement.optional else "needs"
            return f"{entry.name} {verb} an operator {described(requirement.constraint)}"
        case reason:
            raise TypeError(f"nothing is asked for by {reason}")


def _met_by(problem: Problem, chosen: set[int]) -> dict[int, tuple[str, ...]]:
    found: dict[int, dict[str, None]] = {}
    for clause in problem.clauses:
        if clause.kind in (Kind.DEPENDENCY, Kind.OPTIONAL) and clause.subject in chosen:
            meeting = next((other for other in clause.others if other in chosen), None)
            if meeting is not None and meeting != clause.subject:
                found.setdefault(clause.subject, {})[problem.entry(meeting).name] = None
    return {number: tuple(names) for number, names in found.items()}


def _notes(problem: Problem, solution: Solution) -> list[str]:
    """Every silent fall-back, said aloud."""
    notes = []
    for choice in solution.choices:
        clause = choice.clause
        if not isinstance(clause.reason, r.Wanted) or clause.kind is not Kind.DEPENDENCY:
            continue
        want, entry = clause.reason.want, problem.entry(choice.chosen)
        if entry.installed:
            if choice.passed_over:
                notes.append(f"{want.package} stays at {entry.name}: no update of it fits")
            elif len(clause.others) == 1:
                notes.append(f"{want.package} stays at {entry.name}: {_no_update(want.channel, want.package)}")
        elif choice.passed_over:
            first = problem.entry(choice.passed_over[0])
            notes.append(f"{want.package} falls back from {first.name} to {entry.name}")
        if not entry.installed and not want.channel:
            notes += _other_channel(problem, entry)
    for clause in solution.given_up:
        if isinstance(clause.reason, r.Needs):
            constraint = clause.reason.requirement.constraint
            why = "nothing provides it" if not clause.others else "nothing that provides it fits the rest"
            notes.append(f"{clause.reason.entry.name} would like an operator {described(constraint)}: {why}")
    notes += _deprecations(problem, solution)
    return list(dict.fromkeys(notes))


def _other_channel(problem: Problem, entry: Entry) -> list[str]:
    """Without a channel in the want the default channel is what people expect."""
    catalog = next(each for each in problem.request.catalogs if each.key == entry.catalog)
    default = catalog.default_channel(entry.package)
    if entry.in_default_channel or not default:
        return []
    broken = ChannelKey(entry.package, default) in catalog.broken
    why = ", which is broken" if broken else ""
    return [f"{entry.package} comes from channel {entry.channel}, not from its default channel {default}{why}"]


def _no_update(channel: str, package: str) -> str:
    return f"channel {channel} of {package} has no direct update of it" if channel else "there is no direct update"


def _deprecations(problem: Problem, solution: Solution) -> list[str]:
    """What catalogs say of chosen packages, channels and bundles that are on their way out."""
    catalogs = {catalog.key: catalog for catalog in problem.request.catalogs}
    notes = []
    for number in solution.chosen:
        entry = problem.variables[number]
        if not isinstance(entry, Entry) or entry.catalog not in catalogs:
            continue
        said = catalogs[entry.catalog].deprecations
        for key, what in (
            ((entry.package,), f"package {entry.package}"),
            ((entry.package, "olm.channel", entry.channel), f"channel {entry.channel} of {entry.package}"),
            ((entry.package, "olm.bundle", entry.name), entry.name),
        ):
            if key in said:
                notes.append(f"{what} is deprecated: {said[key]}")
    return notes
