"""From a request to numbered variables and clauses: only what wants and installed bundles can reach.

Candidates are put in the order in which they are preferred: what is installed, then the catalog of the bundle that
asks, then other catalogs by priority, namespace and name; within a catalog in the catalog's own order. A bundle that
cannot be used (an unreadable constraint, a broken channel) is taken out and reported; in the dialect of OLM v0 it fails
the whole resolution, as there.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from muster.errors import MusterError
from muster.reasons import Code, Reason, Subject, sentence
from muster.resolution.catalog.bundles import EXISTING, CatalogKey, Entry
from muster.resolution.catalog.catalog import Catalog, ChannelKey, Fault, index_in_order
from muster.resolution.catalog.channels import BrokenChannelError
from muster.resolution.constraints.forms import InvalidConstraintError, Requirement
from muster.resolution.constraints.matching import Matcher
from muster.resolution.constraints.spellings import as_written
from muster.resolution.request import Installed, OptionalPolicy, Request, Want, cluster_entry, installed_entry
from muster.resolution.solving import reasons as r
from muster.resolution.solving.candidates import Wanting, catalog_order, installed_candidates
from muster.resolution.solving.clauses import Clause, Kind
from muster.resolution.solving.fail_forward import BrokenReplacementError, still_counting
from muster.resolution.solving.requirements import RequirementReader
from muster.resolution.time_limits import GoOn, UndecidedError, always

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.resolution.catalog.bundles import Bundle
    from muster.resolution.catalog.properties import Api


_ASK_EVERY = 256  # variables between two looks at the clock


class RefusedInputError(MusterError):
    """OLM v0's dialect: something in the input fails the whole resolution. Carries the faults in upstream's words."""

    def __init__(self, *faults: str) -> None:
        self.reason = Reason(Code.INPUT_REFUSED, parameters={"faults": faults})
        super().__init__(*faults)

    def __str__(self) -> str:
        return sentence(self.reason)


@dataclass(slots=True)
class Problem:
    """Variables by number (an entry or a want), the clauses over them, and what was taken out on the way."""

    request: Request
    matcher: Matcher
    existing: Catalog
    variables: list[Entry | Want] = field(default_factory=list)
    numbers: dict[Entry, int] = field(default_factory=dict)
    clauses: list[Clause] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    replaced: dict[int, Entry] = field(default_factory=dict)  # update candidates and what they would replace
    current: dict[str, Entry] = field(default_factory=dict)  # by want: what is installed for it
    _about: dict[int, list[Clause]] = field(default_factory=dict, repr=False)

    def about(self, number: int) -> list[Clause]:
        """The clauses that concern a variable directly."""
        if not self._about:
            for clause in self.clauses:
                concerned = clause.others if clause.kind is Kind.AT_MOST else (clause.subject,)
                for each in dict.fromkeys(concerned):
                    self._about.setdefault(each, []).append(clause)
        return self._about.get(number, [])

    def identifiers(self) -> list[str]:
        """Upstream's names of the variables."""
        return [
            variable.identifier if isinstance(variable, Entry) else f"subscription:{variable.name}"
            for variable in self.variables
        ]

    def entry(self, number: int) -> Entry:
        variable = self.variables[number]
        if not isinstance(variable, Entry):
            raise TypeError(f"variable {number} is a want")
        return variable


def build_problem(request: Request, go_on: GoOn = always) -> Problem:
    """The part of the request's world that matters.

    Raises RefusedInputError in OLM v0's dialect only, and UndecidedError when the time is up.
    """
    builder = _Builder(request, go_on)
    # 1. What is there: it is kept, or may be replaced by an update of the want that owns it.
    builder.add_existing()
    # 2. What is wanted, by priority and name.
    for want in sorted(request.wants, key=_want_order):
        builder.add_want(want)
    # 3. What all of these can reach.
    builder.expand()
    builder.raise_refusals(wants=True)
    # 4. Only one per package and one per API.
    builder.add_uniqueness()
    return builder.problem


def _want_order(want: Want) -> tuple[int | str, ...]:
    return (-want.priority, want.name, want.package, want.channel, want.version_range, want.catalog, want.starting)


class _Builder:
    def __init__(self, request: Request, go_on: GoOn) -> None:
        self._request = request
        self._go_on = go_on
        self._expanded = 0
        self._upstream = request.upstream
        if not request.namespaces:
            raise RefusedInputError("at least one namespace must be provided to resolution")
        self._namespace = request.namespaces[0]
        faults: list[Fault] = []
        self._unusable: list[str] = []  # OLM v0's dialect: catalogs that fail the resolution, told before wants' faults
        existing = self._existing_catalog(faults)
        self.problem = Problem(request, Matcher(upstream=self._upstream, go_on=go_on), existing, faults=faults)
        self._catalogs = self._usable_catalogs()
        self._queue: deque[int] = deque()
        self._wanting = Wanting(request, self._catalogs, existing)
        self._requirements = RequirementReader(self.problem.matcher, upstream=self._upstream)
        self._candidates: dict[tuple[object, CatalogKey], tuple[int, ...]] = {}
        self._refusals: dict[str, None] = {}  # OLM v0's dialect: what will fail the resolution

    def _existing_catalog(self, faults: list[Fault]) -> Catalog:
        """What is installed, as a virtual catalog, with the facts of the cluster."""
        request = self._request
        key = CatalogKey(EXISTING, self._namespace)
        error = request.installed_error
        installed: Sequence[Installed] = request.installed
        try:
            installed = still_counting(request.installed, request.upgrade_strategy, self._namespace)
        except BrokenReplacementError as broken:
            error = str(broken)
        if error and self._upstream:
            self._unusable.append(f"error using catalogsource {self._namespace}/{EXISTING}: {error}")
            installed = ()
        elif error:
            faults.append(Fault("installed", Reason(Code.INSTALLED_UNREADABLE, parameters={"message": error})))
        entries = [installed_entry(each, self._namespace) for each in sorted(installed, key=lambda each: each.name)]
        if request.facts:
            entries.append(cluster_entry(request.facts, self._namespace))
        return index_in_order(key, entries)

    def _usable_catalogs(self) -> list[Catalog]:
        usable = []
        visible = [each for each in self._request.catalogs if each.key.namespace in self._request.namespaces]
        for catalog in sorted(visible, key=lambda each: (each.key.namespace, each.key.name)):
            if catalog.unavailable:
                if self._upstream:
                    where = f"{catalog.key.namespace}/{catalog.key.name}"
                    self._unusable.append(f"error using catalogsource {where}: {catalog.unavailable}")
                    continue
                told = Reason(Code.CATALOG_UNAVAILABLE, parameters={"message": catalog.unavailable})
                self.problem.faults.append(Fault(f"catalog {catalog.key.name}", told))
            else:
                usable.append(catalog)
        return usable

    # --- what is there, what is wanted

    def add_existing(self) -> None:
        owners = {want.name for want in self._request.wants}
        owned = {want.installed for want in self._request.wants if want.installed}
        for entry in self.problem.existing.entries:
            number = self._number(entry)
            free = not entry.owner if self._upstream else entry.owner not in owners and entry.name not in owned
            if free:
                self._add(Kind.MANDATORY, number, reason=r.Stays(entry))
        if self._upstream:
            self.expand()
            self.raise_refusals(wants=False)

    def raise_refusals(self, *, wants: bool) -> None:
        """Catalogs that cannot be used are told before faults of wants."""
        texts = self._unusable if wants and self._unusable else list(self._refusals)
        if texts:
            raise RefusedInputError(*texts)

    def add_want(self, want: Want) -> None:
        problem = self.problem
        current = self._current(want)
        try:
            found = self._wanting.candidates(want, current)
        except BrokenChannelError as broken:  # contained in our own dialect
            self._refusals[str(broken)] = None
            return
        for fault in found.faults:
            self._fault(fault)
        number = len(problem.variables)
        problem.variables.append(want)
        reason = r.Wanted(want, found.impossible)
        self._add(Kind.MANDATORY, number, reason=reason)
        if found.impossible is not None:
            self._add(Kind.PROHIBITED, number, reason=reason)
            return
        candidates: list[int] = []
        for _, namesakes in groupby(found.entries, lambda entry: entry.name):
            candidates += map(self._number, namesakes)
            if self._upstream:
                before = len(self._refusals)
                self.expand()
                if len(self._refusals) > before:
                    return
        if current is not None:
            problem.current[want.name] = current
            for candidate in dict.fromkeys(candidates):
                problem.replaced[candidate] = current
                there = (problem.numbers[current],)
                self._add(Kind.CONFLICT, candidate, there, reason=r.TakesPlace(problem.entry(candidate), current))
            if found.may_stay:
                candidates.append(problem.numbers[current])
        self._add(Kind.DEPENDENCY, number, tuple(candidates), reason=reason)

    def _current(self, want: Want) -> Entry | None:
        matches = [
            entry
            for entry in self.problem.existing.entries
            if entry.name == want.installed or (not want.installed and entry.owner == want.name)
        ]
        if len(matches) > 1:
            told = Reason(
                Code.INSTALLED_AMBIGUOUS,
                Subject(package=want.package),
                {"want": want.name, "namespace": self._namespace, "bundles": tuple(entry.name for entry in matches)},
            )
            if self._upstream:
                raise RefusedInputError(sentence(told))
            self.problem.faults.append(Fault(f"want {want.name}", told))
        return matches[0] if matches else None

    # --- what can be reached

    def expand(self) -> None:
        """Read the requirements of everything reached so far, and reach what may meet them."""
        while self._queue:
            # Upstream walks from what it found last, and tells faults in that order.
            number = self._queue.pop() if self._upstream else self._queue.popleft()
            if self._expanded % _ASK_EVERY == 0 and not self._go_on():
                raise UndecidedError
            self._expanded += 1
            self._add_entry(number, self.problem.entry(number))

    def _number(self, entry: Entry) -> int:
        problem = self.problem
        number = problem.numbers.get(entry)
        if number is None:
            number = problem.numbers[entry] = len(problem.variables)
            problem.variables.append(entry)
            self._queue.append(number)
        return number

    def _add(
        self, kind: Kind, subject: int, others: tuple[int, ...] = (), *, reason: r.ClauseReason, most: int = 1
    ) -> None:
        self.problem.clauses.append(Clause(kind, subject, others, most, reason))

    def _add_entry(self, number: int, entry: Entry) -> None:
        bundle = entry.bundle
        if bundle.deprecated:
            self._add(Kind.PROHIBITED, number, reason=r.Deprecated(entry))
        allowed = self._request.allowed_packages
        if allowed is not None and not entry.installed and entry.package not in allowed:
            self._add(Kind.PROHIBITED, number, reason=r.NotAllowed(entry))
        for requirement in self._read(bundle, number, entry):
            if requirement.optional and self._request.optional is OptionalPolicy.IGNORE:
                continue
            try:
                candidates = self._meeting(requirement, entry)
            except InvalidConstraintError as error:
                prop = next(each for place, each in bundle.requirements if place == requirement.origin.index)
                self._take_out(number, entry, as_written(prop, requirement.origin.written(error.path)), error.reason)
                continue
            except BrokenChannelError as broken:  # contained in our own dialect
                self._refusals[str(broken)] = None
                continue
            kind = Kind.OPTIONAL if requirement.optional else Kind.DEPENDENCY
            self._add(kind, number, candidates, reason=r.Needs(entry, requirement))

    def _read(self, bundle: Bundle, number: int, entry: Entry) -> list[Requirement]:
        read: list[Requirement] = []
        for result in self._requirements.of(bundle):
            if isinstance(result, InvalidConstraintError):
                self._take_out(number, entry, result.path, result.reason)
                if self._upstream:
                    return []  # it tells the first fault of a bundle and goes no further from there
            else:
                read.append(result)
        return read

    def _take_out(self, number: int, entry: Entry, pointer: str, reason: str) -> None:
        """A bundle that cannot be understood cannot be chosen."""
        if self._upstream:
            self._refusals[reason] = None
            return
        if not entry.installed:  # what is there already is not made impossible by what cannot be read
            self._add(Kind.PROHIBITED, number, reason=r.Faulty(entry, pointer, reason))
        self._fault(self._bundle_fault(entry, pointer, reason))

    def _bundle_fault(self, entry: Entry, pointer: str, reason: str) -> Fault:
        """With the place in a file where it is known."""
        catalog = next((each for each in self._catalogs if each.key == entry.catalog), None)
        where = catalog.places.get((entry.package, entry.name), "") if catalog is not None else ""
        if not where:
            return Fault(f"{entry.name}{pointer}", Reason(Code.CONSTRAINT_INVALID, parameters={"message": reason}))
        told = Reason(Code.BUNDLE_UNUSABLE, Subject(bundle=entry.name), {"message": reason})
        return Fault(f"{where}{'' if '#' in where else '#'}{pointer}", told)

    def _fault(self, fault: Fault) -> None:
        if fault not in self.problem.faults:
            self.problem.faults.append(fault)

    def _meeting(self, requirement: Requirement, asking: Entry) -> tuple[int, ...]:
        """Who could meet a requirement, most preferred first."""
        key = (requirement.constraint, asking.catalog)
        known = self._candidates.get(key)
        if known is None:
            known = self._candidates[key] = tuple(map(self._number, self._found(requirement, asking)))
        return known

    def _found(self, requirement: Requirement, asking: Entry) -> list[Entry]:
        matcher, constraint = self.problem.matcher, requirement.constraint
        existing = self.problem.existing
        present = [existing.entries[number] for number in matcher.entries(constraint, existing)]
        found = installed_candidates(present, upstream=self._upstream)
        for catalog in catalog_order(self._catalogs, asking.catalog, self._namespace):
            numbers = matcher.entries(constraint, catalog)
            if catalog.broken:
                self._tell_broken(catalog, [catalog.entries[number] for number in numbers])
                numbers = catalog.preferred(numbers)
            found += [catalog.entries[number] for number in numbers if number < catalog.ordered]
        return found

    def _tell_broken(self, catalog: Catalog, entries: Sequence[Entry]) -> None:
        for entry in entries:
            key = ChannelKey(entry.package, entry.channel)
            broken = catalog.broken.get(key)
            if broken is None:
                continue
            if self._upstream:
                raise broken
            self._fault(catalog.channel_fault(key, broken))

    # --- uniqueness

    def add_uniqueness(self) -> None:
        by_package: dict[str, list[int]] = {}
        by_api: dict[Api, list[int]] = {}
        for entry, number in self.problem.numbers.items():
            if self._upstream and entry.identifier.count("/") != 3:
                continue  # upstream cannot find such a bundle again
            packages = [each.name for each in entry.bundle.packages]
            for package in packages if self._upstream else dict.fromkeys(packages):
                by_package.setdefault(package, []).append(number)
            for api in entry.bundle.apis if self._upstream else dict.fromkeys(entry.bundle.apis):
                by_api.setdefault(api, []).append(number)
        for package, members in sorted(by_package.items()):
            self._add_at_most_one(members, r.OnePackage(package))
        for api, members in sorted(by_api.items(), key=lambda item: str(item[0])):
            self._add_at_most_one(members, r.OneProvider(api))

    def _add_at_most_one(self, members: list[int], reason: r.ClauseReason) -> None:
        if len(members) < 2:
            return
        self._add(Kind.AT_MOST, members[0], tuple(members), reason=reason)
        # Upstream counts a bundle that says the same twice as two of which one may be there. It gets here for it only.
        for number, count in Counter(members).items():
            if count > 1:
                self._add(Kind.PROHIBITED, number, tuple(members), reason=reason)
