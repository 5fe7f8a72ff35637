"""The answer: what to install, update and keep, who asked for it, and what was preferred but could not be."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from muster.reasons import Code, Reason, Subject, sentence
from muster.resolution.catalog.bundles import Entry
from muster.resolution.catalog.catalog import ChannelKey
from muster.resolution.constraints.reasons import what_is_asked
from muster.resolution.request import is_cluster
from muster.resolution.solving import reasons as r
from muster.resolution.solving.clauses import Kind
from muster.resolution.telling.passed_over import why_passed_over
from muster.resolution.telling.reasons import needed, wanted
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.reasons import Parameter
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
    reason: Reason

    @property
    def why(self) -> str:
        return sentence(self.reason)

    def to_json(self) -> JsonObject:
        return {
            "name": self.name,
            "version": self.version,
            "channel": self.channel,
            "catalog": self.catalog,
            "why": self.why,
            "reason": msgspec.to_builtins(self.reason),
        }


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
    reasons: tuple[Reason, ...]  # who asked for it
    needs: tuple[str, ...]  # names of the bundles that meet its requirements
    passed_over: tuple[PassedOver, ...]

    @property
    def asked_by(self) -> tuple[str, ...]:
        return tuple(map(sentence, self.reasons))

    @property
    def wants(self) -> tuple[str, ...]:
        """The wants that it meets itself, as they are written."""
        return tuple(str(each.parameters["want"]) for each in self.reasons if each.code == Code.WANTED)

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
            found["passedOver"] = [each.to_json() for each in self.passed_over]
        found["reasons"] = {"askedBy": msgspec.to_builtins(self.reasons)}
        return found


@dataclass(frozen=True, slots=True)
class Plan:
    """Every operator that will be there, in the order of deciding; what is said aloud; what was taken out."""

    steps: tuple[Step, ...]
    remarks: tuple[Reason, ...] = ()
    faults: tuple[Fault, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(map(sentence, self.remarks))

    def step(self, package: str) -> Step | None:
        """The operator of a package, or of a bundle's name."""
        return next((step for step in self.steps if package in (step.package, step.name)), None)

    def to_json(self) -> JsonObject:
        return {
            "plan": [step.to_json() for step in self.steps],
            "notes": list(self.notes),
            "faults": [str(fault) for fault in self.faults],
            "reasons": {
                "notes": msgspec.to_builtins(self.remarks),
                "faults": [msgspec.to_builtins(fault.reason) for fault in self.faults],
            },
        }


def make_plan(problem: Problem, solution: Solution) -> Plan:
    """What to do, and why. Reasons come from the decisions that were taken, not from a second thought."""
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
    return Plan(tuple(steps), tuple(_remarks(problem, solution)), tuple(problem.faults))


def _step(
    problem: Problem,
    number: int,
    entry: Entry,
    reasons: tuple[Reason, ...],
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
        reasons=reasons,
        needs=needs,
        passed_over=passed,
    )


def _who_asked(problem: Problem, chosen: set[int]) -> dict[int, list[Reason]]:
    asked: dict[int, list[Reason]] = {}
    for clause in problem.clauses:
        if clause.subject not in chosen:
            continue
        if clause.kind is Kind.MANDATORY and isinstance(clause.reason, r.Stays):
            unowned = Reason(Code.INSTALLED_UNOWNED, Subject(bundle=clause.reason.entry.name))
            asked.setdefault(clause.subject, []).append(unowned)
        if clause.kind in (Kind.DEPENDENCY, Kind.OPTIONAL):
            meeting = next((other for other in clause.others if other in chosen), None)
            if meeting is not None and meeting != clause.subject:
                asked.setdefault(meeting, []).append(_asking(clause))
    return {number: list(dict.fromkeys(reasons)) for number, reasons in asked.items()}


def _asking(clause: Clause) -> Reason:
    match clause.reason:
        case r.Wanted(want=want):
            return wanted(want)
        case r.Needs(entry=entry, requirement=requirement):
            return needed(entry, requirement)
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


def _remarks(problem: Problem, solution: Solution) -> list[Reason]:
    """Every silent fall-back, said aloud."""
    remarks: list[Reason] = []
    for choice in solution.choices:
        clause = choice.clause
        if not isinstance(clause.reason, r.Wanted) or clause.kind is not Kind.DEPENDENCY:
            continue
        want, entry = clause.reason.want, problem.entry(choice.chosen)
        subject = Subject(package=want.package, bundle=entry.name)
        if entry.installed:
            if choice.passed_over:
                remarks.append(Reason(Code.NO_UPDATE_FITS, subject))
            elif len(clause.others) == 1:
                remarks.append(Reason(Code.NO_DIRECT_UPDATE, subject).about(channel=want.channel))
        elif choice.passed_over:
            first = problem.entry(choice.passed_over[0])
            remarks.append(Reason(Code.FALLS_BACK, subject, {"preferred": first.name}))
        if not entry.installed and not want.channel:
            remarks += _other_channel(problem, entry)
    for clause in solution.given_up:
        if isinstance(clause.reason, r.Needs):
            asked = what_is_asked(clause.reason.requirement.constraint)
            code = Code.WISH_DOES_NOT_FIT if clause.others else Code.WISH_UNMET
            remarks.append(Reason(code, Subject(bundle=clause.reason.entry.name), parts=(asked,)))
    remarks += _deprecations(problem, solution)
    return list(dict.fromkeys(remarks))


def _other_channel(problem: Problem, entry: Entry) -> list[Reason]:
    """Without a channel in the want the default channel is what people expect."""
    catalog = next(each for each in problem.request.catalogs if each.key == entry.catalog)
    default = catalog.default_channel(entry.package)
    if entry.in_default_channel or not default:
        return []
    told: dict[str, Parameter] = {"default": default}
    if ChannelKey(entry.package, default) in catalog.broken:
        told["broken"] = True
    return [Reason(Code.OTHER_CHANNEL, Subject(package=entry.package, channel=entry.channel), told)]


def _deprecations(problem: Problem, solution: Solution) -> list[Reason]:
    """What catalogs say of chosen packages, channels and bundles that are on their way out."""
    catalogs = {catalog.key: catalog for catalog in problem.request.catalogs}
    remarks = []
    for number in solution.chosen:
        entry = problem.variables[number]
        if not isinstance(entry, Entry) or entry.catalog not in catalogs:
            continue
        said = catalogs[entry.catalog].deprecations
        for key, subject in (
            ((entry.package,), Subject(package=entry.package)),
            ((entry.package, "olm.channel", entry.channel), Subject(package=entry.package, channel=entry.channel)),
            ((entry.package, "olm.bundle", entry.name), Subject(package=entry.package, bundle=entry.name)),
        ):
            if key in said:
                remarks.append(Reason(Code.DEPRECATION_NOTED, subject, {"message": said[key]}))
    return remarks
