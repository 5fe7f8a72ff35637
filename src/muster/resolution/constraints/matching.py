"""Which bundles meet a constraint: compiled to plain functions, narrowed by the catalogs' indexes, remembered.

One Matcher serves one resolution. It evaluates every CEL rule at most once per bundle and keeps the errors, which the
explanation shows. It does not know about channels, preferences or the solver.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, assert_never

from muster.errors import EvaluationError
from muster.resolution.catalog.properties import json_equal
from muster.resolution.constraints import forms as c
from muster.resolution.constraints.forms import InvalidConstraintError
from muster.resolution.constraints.rules import compile_rule, outcome, variables_of
from muster.resolution.constraints.spellings import as_written, read_requirement
from muster.resolution.time_limits import GoOn, UndecidedError, always
from muster.values.json import JsonObject
from muster.values.semver import InvalidVersionError
from muster.values.semver_range import parse_range

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.cel import CompileBudget
    from muster.resolution.catalog.bundles import Bundle
    from muster.resolution.catalog.catalog import Catalog
    from muster.resolution.catalog.properties import Property
    from muster.resolution.constraints.forms import Requirement

Check: TypeAlias = Callable[["Bundle"], bool]


@dataclass(frozen=True, slots=True)
class RuleFailure:
    """A rule that could not be evaluated for a bundle."""

    rule: str
    bundle: str
    error: str


class Matcher:
    """Answers which entries meet a constraint. Same answers whatever the order of the questions."""

    def __init__(self, *, upstream: bool = False, go_on: GoOn = always, budget: CompileBudget | None = None) -> None:
        self._upstream = upstream
        self._budget = budget  # for compiling all rules that it is asked about
        self._go_on = go_on
        self._checks: dict[c.Constraint, Check] = {}
        self._variables: dict[Bundle, JsonObject] = {}
        self._found: dict[tuple[c.Constraint, int], Sequence[int]] = {}
        self.failures: dict[tuple[str, Bundle], str] = {}

    def check(self, constraint: c.Constraint) -> Check:
        """The constraint as a function of a bundle. Raises InvalidConstraintError for a bad rule or range."""
        known = self._checks.get(constraint)
        if known is None:
            known = self._checks[constraint] = self._compiled(constraint)
        return known

    def entries(self, constraint: c.Constraint, catalog: Catalog) -> Sequence[int]:
        """The numbers of the catalog's entries that meet the constraint, in the catalog's order of preference."""
        key = (constraint, id(catalog))
        known = self._found.get(key)
        if known is None:
            check = self.check(constraint)
            narrowed = narrow(constraint, catalog)
            numbers: Iterable[int] = range(len(catalog.entries)) if narrowed is None else narrowed
            found = catalog.entries
            known = self._found[key] = [number for number in numbers if check(found[number].bundle)]
        return known

    def _compiled(self, constraint: c.Constraint) -> Check:
        match constraint:
            case c.CelConstraint(rule=rule):
                return self._rule(rule)
            case c.PackageConstraint(name=name, version_range=text):
                return self._package(name, text)
            case c.ApiConstraint(api=api):
                return lambda bundle: api in bundle.apis
            case c.LabelConstraint(label=label):
                return lambda bundle: label in bundle.labels
            case c.PropertyConstraint(name=name):
                wanted = constraint.value
                return lambda bundle: any(
                    each.type == name and each.readable and json_equal(each.value, wanted)
                    for each in bundle.properties()
                )
            case c.AllConstraint(members=members):
                checks = self._members(members, "all")
                return lambda bundle: all(check(bundle) for check in checks)
            case c.AnyConstraint(members=members):
                checks = self._members(members, "any")
                return lambda bundle: any(check(bundle) for check in checks)
            case c.NotConstraint(members=members):
                checks = self._members(members, "not")
                return lambda bundle: not any(check(bundle) for check in checks)
            case _:
                assert_never(constraint)

    def _members(self, members: tuple[c.Constraint, ...], kind: str) -> list[Check]:
        checks = []
        for number, member in enumerate(members):
            try:
                checks.append(self.check(member))
            except InvalidConstraintError as error:
                raise InvalidConstraintError(f"/{kind}/constraints/{number}{error.path}", error.reason) from error
        return checks

    def _package(self, name: str, text: str) -> Check:
        try:
            wanted = parse_range(text)
        except InvalidVersionError as error:
            raise InvalidConstraintError("/package/versionRange", str(error)) from None

        answers: dict[Bundle, bool] = {}  # a bundle is mostly in two channels or more

        def check(bundle: Bundle) -> bool:
            known = answers.get(bundle)
            if known is None:
                named = bundle.package == name or any(said.name == name for said in bundle.packages)
                known = answers[bundle] = named and any(version in wanted for version in bundle.versions)
            return known

        return check

    def _rule(self, rule: str) -> Check:
        try:
            program = compile_rule(rule, upstream=self._upstream, budget=self._budget)
        except InvalidConstraintError as error:
            raise InvalidConstraintError("/cel/rule", error.reason) from error
        answers: dict[Bundle, bool] = {}

        def check(bundle: Bundle) -> bool:
            known = answers.get(bundle)
            if known is None:
                if not self._go_on():  # rules are other people's programs, and there are many bundles
                    raise UndecidedError
                result = outcome(program, self.variables(bundle))
                if isinstance(result, EvaluationError):
                    self.failures[rule, bundle] = str(result)
                known = answers[bundle] = result is True
            return known

        return check

    def variables(self, bundle: Bundle) -> JsonObject:
        known = self._variables.get(bundle)
        if known is None:
            known = self._variables[bundle] = variables_of(bundle)
        return known


def checked_requirement(prop: Property, place: int, matcher: Matcher) -> Requirement | None:
    """The requirement that a property states, with its rules and ranges compiled; None if it states none.

    Raises InvalidConstraintError with a pointer from the bundle, the same for every caller.
    """
    requirement = read_requirement(prop, place)
    if requirement is not None:
        try:
            matcher.check(requirement.constraint)
        except InvalidConstraintError as error:
            pointer = as_written(prop, requirement.origin.written(error.path))
            raise InvalidConstraintError(pointer, error.reason) from error
    return requirement


def narrow(constraint: c.Constraint, catalog: Catalog) -> Sequence[int] | None:
    """Entries among which all that meet the constraint are found, from the indexes; None when that is no help."""
    match constraint:
        case c.PackageConstraint(name=name):
            return catalog.by_package.get(name, ())
        case c.ApiConstraint(api=api):
            return catalog.by_api.get(api, ())
        case c.LabelConstraint(label=label):
            return catalog.by_label.get(label, ())
        case c.AllConstraint(members=members):
            found = [each for member in members if (each := narrow(member, catalog)) is not None]
            return min(found, key=len) if found else None
        case c.AnyConstraint(members=members):
            parts = [narrow(member, catalog) for member in members]
            if any(part is None for part in parts):
                return None
            return sorted({number for part in parts if part is not None for number in part})
        case _:
            return None
