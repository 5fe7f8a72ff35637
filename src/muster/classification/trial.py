"""A trial: what a query, a classification or all of them make of hosts, before anything is written.

The answer of a ClassificationPreview, from the same rosters as the controllers'. Whoever serves the question hands in
the hosts and classifications that the asker may get; `muster classify` and `muster explain classification` hand in
files. It pauses after each host, and says where the next bit may take as long as a query may.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

import msgspec

from muster.api.fleet_parts import ERROR, WARNING, Diagnostic, positions_of
from muster.classification.classification import CLASSIFICATIONS, Classification, read_classification
from muster.classification.names import LABEL_PREFIX
from muster.classification.one_shot import Hosts
from muster.classification.trial_rows import MOST_BYTES, TrialRows
from muster.errors import InvalidExpressionError
from muster.jq import compile_query
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from muster.api.fleet_classification import ClassificationPreviewSpec, ClassificationPreviewStatus

T = TypeVar("T")
Steps: TypeAlias = Generator[bool, None, T]
"""Pauses wherever it yields; true where the next bit may take long."""
MOST_QUERY: Final = 64 * 1024  # bytes, as in an object
_AT_ONCE: Final = 64  # hosts that are put in without a pause


@dataclass(frozen=True, slots=True)
class Host:
    """An Agent, as far as classifications look at it. The inventory is as it is stored; None where there is none."""

    namespace: str
    name: str
    labels: Mapping[str, str]
    applied: Mapping[str, str]
    inventory: bytes | None


@dataclass(frozen=True, slots=True)
class Present:
    """What there is, of all that may be told: hosts and saved classifications with their namespace, in any order.

    A classification without a namespace counts for all. What may not be told is two numbers.
    """

    hosts: Sequence[Host]
    saved: Sequence[tuple[str, Classification]]
    hidden: int = 0
    hidden_classifications: int = 0


def tried(
    spec: ClassificationPreviewSpec, present: Present, most_bytes: int = MOST_BYTES
) -> Steps[ClassificationPreviewStatus]:
    """The whole answer, with so many bytes of rows. A saved classification that is asked about must be there."""
    yield True  # compiling may take long
    asked = _Asked.of(spec, present)
    hosts = Hosts(trusting=True, hold=bool(present.hidden_classifications) and spec.among is None)
    for namespace in sorted({each.namespace for each in present.hosts} | asked.namespaces(spec.namespace)):
        for counted in asked.counted(namespace):
            yield True
            hosts.roster(namespace).put_classification(counted)
    for number, host in enumerate(present.hosts):
        if number % _AT_ONCE == 0:
            yield False
        hosts.put_host((host.namespace, host.name), host.labels, host.applied, host.inventory)
    yield from hosts.settling()
    yield False
    found = yield from TrialRows(spec, present.hosts, hosts, asked.one, most_bytes).told()
    return msgspec.structs.replace(
        found,
        valid=not any(each.severity == ERROR for each in asked.diagnostics),
        hosts=len(present.hosts),
        hidden=present.hidden,
        hidden_classifications=present.hidden_classifications,
        diagnostics=asked.diagnostics,
    )


def exhausted(steps: Steps[T]) -> T:
    """The result of all steps, for whoever has nothing else to do."""
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            found: T = ended.value
            return found


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked about, None for all; what else counts; what is wrong with it."""

    one: Classification | None
    others: tuple[tuple[str, Classification], ...]
    diagnostics: tuple[Diagnostic, ...]

    @classmethod
    def of(cls, spec: ClassificationPreviewSpec, present: Present) -> _Asked:
        saved = list(present.saved)
        wrong: list[Diagnostic] = []
        if spec.among is not None:
            saved = []
            for number, obj in enumerate(spec.among):
                place, each, unread = _read(obj, f"spec.among[{number}]")
                faults = [*unread, *_faults(each, f"spec.among[{number}].spec")]
                wrong += faults
                if not faults or len(each.query.encode()) <= MOST_QUERY:
                    saved.append((place, each))
        one, field = None, "spec"
        if spec.query:
            one = Classification("", "", "", spec.query, usable=False)
        elif spec.classification is not None:
            field = "spec.classification.spec"
            place, one, unread = _read(spec.classification, "spec.classification")
            wrong += unread
            before = next((each for where, each in present.saved if (where, each.name) == (place, one.name)), None)
            wrong += _immutable(before, one, field)
        elif spec.name:
            known = ((where, each) for where, each in present.saved if each.name == spec.name)
            one = next(each for where, each in known if where in ("", spec.namespace))
        if one is not None:
            wrong += _faults(one, field)
            if len(one.query.encode()) > MOST_QUERY:
                one = Classification(one.name, one.label, one.value, "error", usable=one.usable)
            if spec.classification is not None and not one.name:
                wrong.append(
                    Diagnostic("spec.classification.metadata.name", "without a name it comes before others", WARNING)
                )
        others = tuple((place, each) for place, each in saved if one is None or each.name != one.name)
        return cls(one, others, tuple(wrong))

    def namespaces(self, asked: str) -> set[str]:
        """Where classifications are that count, whether there are hosts or not."""
        if asked:
            return {asked}
        return {place for place, _ in self.others if place} if self.one is None else set()

    def counted(self, namespace: str) -> Iterator[Classification]:
        """The classifications of a namespace that the answer depends on: those with the same key, if one is asked."""
        for place, each in self.others:
            if place not in ("", namespace):
                continue
            if self.one is None or (self.one.label and self.one.label == each.label) or not each.usable:
                yield each
        if self.one is not None:
            yield self.one


def _read(obj: JsonMapping, field: str) -> tuple[str, Classification, list[Diagnostic]]:
    """Its namespace, what can be read of it, and what cannot."""
    found = CLASSIFICATIONS.partly(dict(obj))
    unread = [Diagnostic(f"{field}.{each.path}", each.message, ERROR) for each in found.faults]
    return found.obj.metadata.namespace, read_classification(found.obj), unread


def _faults(given: Classification, field: str) -> Iterable[Diagnostic]:
    """What is wrong with a classification: its label, and its query with the position."""
    if given.fault:
        yield Diagnostic(field, given.fault, ERROR)
    if (size := len(given.query.encode())) > MOST_QUERY:
        yield Diagnostic(f"{field}.query", f"it has {size} bytes; at most {MOST_QUERY} are taken", ERROR)
        return
    try:
        compile_query(given.query)
    except InvalidExpressionError as error:
        yield from positions_of(error, f"{field}.query")
    except Exception as error:  # a bug of ours; the query says so on every host
        yield Diagnostic(f"{field}.query", f"a fault of muster itself ({type(error).__name__})", ERROR)


def _immutable(before: Classification | None, after: Classification, field: str) -> Iterable[Diagnostic]:
    """A saved classification keeps its label: hosts would keep the old one."""
    if before is not None and (before.label, before.value) != (after.label, after.value):
        label = f"{before.label.removeprefix(LABEL_PREFIX)}={before.value}"
        yield Diagnostic(field, f"the saved one sets {label}, which cannot be changed: it would be refused", ERROR)
