"""Why there is no answer, told like a story: what you want, what that needs, and where it cannot go on.

The facts are a minimal conflict at the level people think in: wants, packages and what they need, one version per
package, one provider per API. Versions are merged into ranges, the authors' messages are shown, and where nothing
meets a requirement, what came nearest and why it is not enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from muster.reasons import Code, Reason, Subject, sentence
from muster.resolution.constraints import forms as c
from muster.resolution.constraints.reasons import what_is_asked
from muster.resolution.solving import reasons as r
from muster.resolution.solving.clauses import Clause, Kind
from muster.resolution.solving.conflicts import minimal_conflict
from muster.resolution.telling.nearest import near_misses
from muster.resolution.telling.reasons import reason_of, want_impossible, want_possible
from muster.resolution.telling.versions import merged, named
from muster.resolution.time_limits import GoOn, always
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muster.reasons import Parameter
    from muster.resolution.catalog.bundles import Bundle, Entry
    from muster.resolution.solving.problem import Problem

# From what people asked for down to what stands in the way.
_ORDER = (
    "want",
    "stays",
    "needs",
    "faulty",
    "deprecated",
    "not-allowed",
    "takes-place",
    "one-package",
    "one-provider",
)
_MOST_NEEDS = 6  # of one package that one story tells
_MOST_OFFERS = 4  # packages that could meet a requirement
_MOST_FAULTS = 3
_NOTHING_MORE: Mapping[str, Parameter] = {}


@dataclass(frozen=True, slots=True)
class StoryFact:
    """One fact of the conflict, and what belongs to it."""

    fact: r.Fact
    reason: Reason
    beside: tuple[Reason, ...] = ()

    @property
    def sentence(self) -> str:
        return sentence(self.reason)

    @property
    def details(self) -> tuple[str, ...]:
        return tuple(map(sentence, self.beside))

    def to_json(self) -> JsonObject:
        found: JsonObject = {"kind": self.fact.kind, "about": self.fact.about, "text": self.sentence}
        if self.beside:
            found["details"] = list(self.details)
            found["reasons"] = {"details": msgspec.to_builtins(self.beside)}
        return found | {"reason": msgspec.to_builtins(self.reason)}


@dataclass(frozen=True, slots=True)
class Story:
    """Facts that cannot all hold, none of which could be left out."""

    facts: tuple[StoryFact, ...]

    @property
    def text(self) -> str:
        """Because …, and …, and …: these cannot all hold."""
        if not self.facts:
            return ""
        lines = []
        for place, each in enumerate(self.facts):
            lead = "Because" if place == 0 else "and"
            lines.append(f"  {lead} {each.sentence}")
            lines += [f"      {line}" for detail in each.details for line in detail.splitlines()]
        return "\n".join([*lines, "  there is no set of operators that meets all of this."])

    def to_json(self) -> list[JsonObject]:
        return [each.to_json() for each in self.facts]


def tell(problem: Problem, *, assumed: Iterable[int] = (), go_on: GoOn = always) -> Story:
    """The story of a problem without an answer; with `assumed`, of why those cannot be chosen together."""
    return _Teller(problem).tell(conflicting_facts(problem, assumed=assumed, go_on=go_on))


def conflicting_facts(problem: Problem, *, assumed: Iterable[int] = (), go_on: GoOn = always) -> list[r.Fact]:
    """A minimal conflict at the level of facts; empty if there is none."""
    found = minimal_conflict(len(problem.variables), problem.clauses, r.group_of, assumed=assumed, go_on=go_on)
    return [fact for fact in found if isinstance(fact, r.Fact)] if found is not None else []


class _Teller:
    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._by_fact: dict[r.Fact, list[Clause]] = {}
        for clause in problem.clauses:
            fact = r.group_of(clause)
            if isinstance(fact, r.Fact):
                self._by_fact.setdefault(fact, []).append(clause)
        self._all_bundles: list[Bundle] | None = None

    def tell(self, facts: Sequence[r.Fact]) -> Story:
        ordered = sorted(facts, key=lambda fact: _ORDER.index(fact.kind))
        needs = _walk_down([fact for fact in ordered if fact.kind == "needs"], ordered)
        others = [fact for fact in ordered if fact.kind != "needs"]
        before = [fact for fact in others if fact.kind in ("want", "stays")]
        after = [fact for fact in others if fact.kind not in ("want", "stays")]
        return Story(tuple(told for fact in (*before, *needs, *after) for told in self._told(fact)))

    def _told(self, fact: r.Fact) -> list[StoryFact]:
        clauses = self._by_fact[fact]
        match fact.kind:
            case "want":
                return [self._want(fact, clauses)]
            case "needs":
                return self._needs(fact, clauses)
            case "one-provider":
                return [StoryFact(fact, reason_of(clauses[0], self._problem), self._providers(clauses))]
            case "one-package" | "stays" | "takes-place":
                return [StoryFact(fact, reason_of(clauses[0], self._problem))]
            case "deprecated":
                return [StoryFact(fact, self._of_versions(Code.VERSIONS_DEPRECATED, fact.about, clauses))]
            case "not-allowed":
                return [StoryFact(fact, Reason(Code.PACKAGE_NOT_ALLOWED, Subject(package=fact.about)))]
            case _:
                faults = tuple(dict.fromkeys(map(_fault, clauses)))[:_MOST_FAULTS]
                unusable = self._of_versions(Code.VERSIONS_UNUSABLE, fact.about, clauses)
                return [StoryFact(fact, unusable, faults)]

    def _want(self, fact: r.Fact, clauses: Sequence[Clause]) -> StoryFact:
        reason = clauses[0].reason
        want = reason.want
        if reason.impossible is not None:
            unknown = reason.impossible.code == Code.PACKAGE_NOT_FOUND
            hint = self._package_hint(want.package) if unknown else ()
            return StoryFact(fact, want_impossible(want, reason.impossible), hint)
        candidates = [
            self._problem.entry(other)
            for clause in clauses
            if clause.kind is Kind.DEPENDENCY
            for other in clause.others
        ]
        return StoryFact(fact, want_possible(want, candidates))

    def _package_hint(self, package: str) -> tuple[Reason, ...]:
        return tuple(
            near_misses(c.PackageConstraint(package, ">=0.0.0"), self._bundles(), self._problem.matcher, upstream=False)
        )

    def _needs(self, fact: r.Fact, clauses: Sequence[Clause]) -> list[StoryFact]:
        """One for each distinct requirement; versions that need the same are merged."""
        by_constraint: dict[c.Constraint, list[Clause]] = {}
        for clause in clauses:
            by_constraint.setdefault(clause.reason.requirement.constraint, []).append(clause)
        told = []
        for constraint, asking in by_constraint.items():
            details = [Reason(Code.AUTHOR_SAYS, parameters={"message": text}) for text in c.messages(constraint)]
            meeting = [self._problem.entry(other) for other in asking[0].others]
            told_offers = not isinstance(constraint, c.PackageConstraint) or len(by_constraint) == 1
            if not meeting:
                upstream = self._problem.request.upstream
                details += near_misses(constraint, self._bundles(), self._problem.matcher, upstream=upstream)
            offers, more = self._offered(meeting) if told_offers else ((), 0)
            parameters: dict[str, Parameter] = {}
            if len({clause.reason.entry.name for clause in asking}) == 1:
                parameters["single"] = True
            if more:
                parameters["more"] = more
            code = Code.VERSIONS_NEED if meeting else Code.VERSIONS_NEED_UNMET
            parts = (what_is_asked(constraint), *offers)
            need = self._of_versions(code, fact.about, asking, parameters, parts)
            told.append(StoryFact(fact, need, tuple(details)))
        if len(told) <= _MOST_NEEDS:
            return told
        return [*told[: _MOST_NEEDS - 1], self._summed(fact, clauses, len(told) - _MOST_NEEDS + 1)]

    def _summed(self, fact: r.Fact, clauses: Sequence[Clause], left: int) -> StoryFact:
        what = fact.detail[1] if isinstance(fact.detail, tuple) else "the same"
        told: dict[str, Parameter] = {"of": what, "more": left}
        return StoryFact(fact, self._of_versions(Code.VERSIONS_NEED_MORE, fact.about, clauses, told))

    def _offered(self, entries: Sequence[Entry]) -> tuple[list[Reason], int]:
        """Who could meet a requirement, by package, and how many packages more."""
        packages: dict[str, list[Bundle]] = {}
        for entry in entries:
            packages.setdefault(r.family(entry), []).append(entry.bundle)
        shown = [
            Reason(Code.OFFERED, Subject(package=package), {"versions": merged(bundles, self._of(package))})
            for package, bundles in list(packages.items())[:_MOST_OFFERS]
        ]
        return shown, max(len(packages) - _MOST_OFFERS, 0)

    def _providers(self, clauses: Sequence[Clause]) -> tuple[Reason, ...]:
        packages = {r.family(self._problem.entry(other)) for clause in clauses for other in clause.others}
        return (Reason(Code.PROVIDERS, parameters={"packages": tuple(sorted(packages))}),)

    def _of_versions(
        self,
        code: Code,
        package: str,
        clauses: Sequence[Clause],
        more: Mapping[str, Parameter] = _NOTHING_MORE,
        parts: tuple[Reason, ...] = (),
    ) -> Reason:
        """A reason about the versions of a package that the clauses are of."""
        bundles = [clause.reason.entry.bundle for clause in clauses]
        return Reason(code, Subject(package=package), {**named(bundles, self._of(package)), **more}, parts=parts)

    def _of(self, package: str) -> list[Bundle]:
        """All versions of a package that matter in this problem."""
        return [entry.bundle for entry in self._problem.numbers if r.family(entry) == package]

    def _bundles(self) -> list[Bundle]:
        if self._all_bundles is None:
            catalogs = [*self._problem.request.catalogs, self._problem.existing]
            found = {entry.bundle: None for catalog in catalogs for entry in catalog.entries}
            self._all_bundles = sorted(found, key=lambda bundle: (bundle.package, bundle.name))
        return self._all_bundles


def _fault(clause: Clause) -> Reason:
    told = {"message": f"{clause.reason.pointer}: {clause.reason.message}", "pointer": clause.reason.pointer}
    return Reason(Code.CONSTRAINT_INVALID, parameters=told)


def _walk_down(needs: Sequence[r.Fact], facts: Sequence[r.Fact]) -> list[r.Fact]:
    """Requirements in the order in which one leads to the next, beginning at what is wanted."""
    reached = [fact.about for fact in facts if fact.kind in ("want", "stays")]
    left = list(needs)
    ordered: list[r.Fact] = []
    while left:
        following = next((fact for name in reached for fact in left if fact.about == name), left[0])
        left.remove(following)
        ordered.append(following)
        detail = following.detail
        reached.append(detail[1] if isinstance(detail, tuple) and len(detail) == 2 else following.about)
    return ordered
