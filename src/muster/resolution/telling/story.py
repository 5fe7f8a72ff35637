"""Why there is no answer, told like a story: what you want, what that needs, and where it cannot go on.

The facts are a minimal conflict at the level people think in: wants, packages and what they need, one version per
package, one provider per API. Versions are merged into ranges, the authors' messages are shown, and where nothing
meets a requirement, what came nearest and why it is not enough.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.resolution.constraints import forms as c
from muster.resolution.solving import reasons as r
from muster.resolution.solving.clauses import Clause, Kind
from muster.resolution.solving.conflicts import minimal_conflict
from muster.resolution.solving.sat import GoOn, always
from muster.resolution.telling.nearest import near_misses
from muster.resolution.telling.versions import merged, named
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


@dataclass(frozen=True, slots=True)
class StoryFact:
    """One fact of the conflict: a sentence, and lines that belong to it."""

    fact: r.Fact
    sentence: str
    details: tuple[str, ...] = ()


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
        return [
            {"kind": each.fact.kind, "about": each.fact.about, "text": each.sentence}
            | ({"details": list(each.details)} if each.details else {})
            for each in self.facts
        ]


def tell(problem: Problem, *, assumed: Iterable[int] = (), go_on: GoOn = always) -> Story:
    """The story of a problem without an answer; with `assumed`, of why those cannot be chosen together."""
    return _Teller(problem).tell(conflicting_facts(problem, assumed=assumed, go_on=go_on))


def conflicting_facts(problem: Problem, *, assumed: Iterable[int] = (), go_on: GoOn = always) -> list[r.Fact]:
    """A minimal conflict at the level of facts; empty if there is none."""
    found = minimal_conflict(len(problem.variables), problem.clauses, r.group_of, assumed=assumed, go_on=go_on) or []
    return [fact for fact in found if isinstance(fact, r.Fact)]


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
            case "one-package":
                return [StoryFact(fact, f"only one version of {fact.about} can be installed")]
            case "one-provider":
                return [StoryFact(fact, f"only one operator can provide {fact.about}", self._providers(clauses))]
            case "stays":
                return [StoryFact(fact, f"{fact.about} is installed and nothing you want replaces it")]
            case "takes-place":
                return [StoryFact(fact, f"an update of {fact.about} takes its place")]
            case "deprecated":
                return [StoryFact(fact, f"{self._versions(fact.about, clauses)} is deprecated")]
            case "not-allowed":
                return [StoryFact(fact, f"package {fact.about} is not among those allowed")]
            case _:
                faults = tuple(dict.fromkeys(clause.reason.fault for clause in clauses))
                return [StoryFact(fact, f"{self._versions(fact.about, clauses)} cannot be used", faults[:3])]

    def _want(self, fact: r.Fact, clauses: Sequence[Clause]) -> StoryFact:
        reason = clauses[0].reason
        want = reason.want
        if reason.impossible:
            hint = self._package_hint(want.package) if "in package" in reason.impossible else ()
            return StoryFact(fact, f"you want {want}, but {reason.impossible}", hint)
        candidates = [
            self._problem.entry(other)
            for clause in clauses
            if clause.kind is Kind.DEPENDENCY
            for other in clause.others
        ]
        bundles = [entry.bundle for entry in candidates]
        installed = next((entry for entry in candidates if entry.installed), None)
        scope = f"which can be {merged(bundles, bundles)}"
        if installed is not None:
            scope = f"which is {installed.name} now" + (
                f" and can be updated to {merged(bundles[:-1], bundles[:-1])}" if len(bundles) > 1 else ""
            )
        return StoryFact(fact, f"you want {want} ({scope})")

    def _package_hint(self, package: str) -> tuple[str, ...]:
        return tuple(
            near_misses(c.PackageConstraint(package, ">=0.0.0"), self._bundles(), self._problem.matcher, upstream=False)
        )

    def _needs(self, fact: r.Fact, clauses: Sequence[Clause]) -> list[StoryFact]:
        """One sentence per distinct requirement; versions that need the same are merged."""
        by_constraint: dict[c.Constraint, list[Clause]] = {}
        for clause in clauses:
            by_constraint.setdefault(clause.reason.requirement.constraint, []).append(clause)
        told = []
        for constraint, asking in by_constraint.items():
            who = self._versions(fact.about, asking)
            verb = (
                "needs"
                if len({clause.reason.entry.name for clause in asking}) == 1 or who.startswith("every")
                else "need"
            )
            sentence = f"{who} {verb} an operator {c.described(constraint)}"
            details = [f"“{text}”" for text in c.messages(asking[0].reason.requirement.constraint)]
            meeting = [self._problem.entry(other) for other in asking[0].others]
            if not meeting:
                sentence += ", and there is none"
                upstream = self._problem.request.upstream
                details += near_misses(constraint, self._bundles(), self._problem.matcher, upstream=upstream)
            elif not isinstance(constraint, c.PackageConstraint) or len(by_constraint) == 1:
                sentence += f", which is {self._offered(meeting)}"
            told.append(StoryFact(fact, sentence, tuple(details)))
        return told[:6] if len(told) <= 6 else [*told[:5], self._summed(fact, clauses, len(told) - 5)]

    def _summed(self, fact: r.Fact, clauses: Sequence[Clause], left: int) -> StoryFact:
        what = fact.detail[1] if isinstance(fact.detail, tuple) else "the same"
        return StoryFact(fact, f"{self._versions(fact.about, clauses)} need {what} in {left} more ranges")

    def _offered(self, entries: Sequence[Entry]) -> str:
        """Who could meet a requirement, by package."""
        packages: dict[str, list[Bundle]] = {}
        for entry in entries:
            packages.setdefault(r.family(entry), []).append(entry.bundle)
        shown = [f"{package} {merged(bundles, self._of(package))}" for package, bundles in list(packages.items())[:4]]
        more = f" or one of {len(packages) - 4} more packages" if len(packages) > 4 else ""
        return " or ".join(shown) + more

    def _providers(self, clauses: Sequence[Clause]) -> tuple[str, ...]:
        packages = {r.family(self._problem.entry(other)) for clause in clauses for other in clause.others}
        return (f"{', '.join(sorted(packages))} do",)

    def _versions(self, package: str, clauses: Sequence[Clause]) -> str:
        bundles = [clause.reason.entry.bundle for clause in clauses]
        return named(package, bundles, self._of(package))

    def _of(self, package: str) -> list[Bundle]:
        """All versions of a package that matter in this problem."""
        return [entry.bundle for entry in self._problem.numbers if r.family(entry) == package]

    def _bundles(self) -> list[Bundle]:
        if self._all_bundles is None:
            catalogs = [*self._problem.request.catalogs, self._problem.existing]
            found = {entry.bundle: None for catalog in catalogs for entry in catalog.entries}
            self._all_bundles = sorted(found, key=lambda bundle: (bundle.package, bundle.name))
        return self._all_bundles


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
