"""What a trial tells: rows of hosts, outcomes counted, labels gained and lost, and who is in whose way.

`trial.py` calls it when all queries have been asked. Nothing is decided here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.fleet_classification import (
    ClassificationFare,
    ClassificationPreviewStatus,
    HostOutcome,
    HostRow,
    LabelConflict,
    OutcomeCount,
    PreviewCondition,
    QueryPart,
    Said,
    TakenLabel,
)
from muster.classification.explanation import explain_query
from muster.classification.names import LABEL_PREFIX
from muster.classification.outcomes import QUERY_LIMITS, Outcome, Verdict, given_by
from muster.classification.status import report
from muster.jq import short_json
from muster.reasons import Code
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping, Sequence

    from muster.api.fleet_classification import ClassificationPreviewSpec
    from muster.classification.classification import Classification
    from muster.classification.labels import LabelPlan
    from muster.classification.one_shot import Hosts
    from muster.classification.roster import Roster
    from muster.classification.trial import Host
    from muster.jq.values.value import Value

MATCHED, UNMATCHED, FAILED = "Matched", "Unmatched", "Failed"
VERDICTS: Final = {Verdict.MATCH: MATCHED, Verdict.NO_MATCH: UNMATCHED, Verdict.FAILED: FAILED}
_ORDER: Final = (MATCHED, FAILED, UNMATCHED)
_EXAMPLES: Final = 5
_MOST_GROUPS: Final = 50
_MOST_EXPLAINED: Final = 8
_MOST_CONFLICTS: Final = 100
_MOST_VALUES: Final = 5  # outputs that are shown of one run
_LONGEST_VALUE: Final = 1_000
_LONGEST_TEXT: Final = 1_000
MOST_BYTES: Final = 2**20  # of all rows; who wants more asks for the next
_AT_ONCE: Final = 64
_NOT_ASKED: Final = Said()

_Changes = dict[str, str | None]


class TrialRows:
    """Tells of hosts that have been settled."""

    def __init__(
        self,
        spec: ClassificationPreviewSpec,
        given: Sequence[Host],
        hosts: Hosts,
        one: Classification | None,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._most_bytes = most_bytes
        self._spec = spec
        self._one = one
        self._hosts = hosts
        self._given = sorted(given, key=lambda each: (each.namespace, each.name))

    def told(self) -> Generator[bool, None, ClassificationPreviewStatus]:
        """Everything that hosts and classifications say; with pauses."""
        counts = dict.fromkeys((MATCHED, UNMATCHED, FAILED, "gained", "lost", "changed"), 0)
        groups: dict[Outcome, list[Host]] = {}
        conflicts: dict[tuple[str, str, str, str, str], list[str]] = {}
        wanted: list[Host] = []
        for number, host in enumerate(self._given):
            if number % _AT_ONCE == 0:
                yield False
            roster = self._hosts.roster(host.namespace)
            outcome = None if self._one is None else roster.outcome(host.name, self._one)
            if outcome is not None:
                counts[VERDICTS[outcome.verdict]] += 1
                groups.setdefault(outcome, []).append(host)
            changes = self._changes(host)
            for key, value in changes.items():
                was = host.labels.get(LABEL_PREFIX + key)
                counts["gained" if was is None else "lost" if value is None else "changed"] += 1
            self._note_conflicts(host, conflicts)
            if self._wants(host, outcome, changes):
                wanted.append(host)
        rows = yield from self._rows(wanted)
        outcomes = yield from self._outcomes(groups)
        yield False
        return ClassificationPreviewStatus(
            matched=counts[MATCHED],
            unmatched=counts[UNMATCHED],
            failed=counts[FAILED],
            gained=counts["gained"],
            lost=counts["lost"],
            changed=counts["changed"],
            rows=tuple(rows),
            rows_in_all=len(wanted),
            outcomes=tuple(outcomes),
            outcomes_in_all=len(groups),
            conflicts=tuple(
                LabelConflict(*about, len(names), tuple(names[:_EXAMPLES]))
                for about, names in sorted(conflicts.items())[:_MOST_CONFLICTS]
            ),
            classifications=tuple(self._fares()),
        )

    def _wants(self, host: Host, outcome: Outcome | None, changes: Mapping[str, str | None]) -> bool:
        show = self._spec.rows.show
        if self._spec.host and host.name != self._spec.host:
            return False
        if show == "Changed":
            return bool(changes)
        return show == "All" or (outcome is not None and VERDICTS[outcome.verdict] == show)

    # --------------------------------------------------------------------------------------------------------- labels

    def _changes(self, host: Host) -> _Changes:
        """Labels that would be others, by key without the prefix: of the one that is asked about, or all."""
        after = self._hosts.roster(host.namespace).labels(host.name)
        if self._one is not None:
            keys = {self._one.label} if self._one.usable else set()
        else:
            keys = {key for key in (*host.labels, *after) if key.startswith(LABEL_PREFIX)}
        return {
            key.removeprefix(LABEL_PREFIX): after.get(key)
            for key in sorted(keys)
            if host.labels.get(key) != after.get(key)
        }

    def _plan(self, host: Host) -> LabelPlan | None:
        return self._hosts.roster(host.namespace).plan_so_far(host.name)

    def _note_conflicts(self, host: Host, found: dict[tuple[str, str, str, str, str], list[str]]) -> None:
        plan, roster = self._plan(host), self._hosts.roster(host.namespace)
        for name, taken in plan.missed.items() if plan is not None else ():
            classification = roster.classification(name)
            if classification is not None:
                key = classification.label.removeprefix(LABEL_PREFIX)
                found.setdefault((host.namespace, name, key, taken.value, taken.by), []).append(host.name)

    # ----------------------------------------------------------------------------------------------------------- rows

    def _rows(self, wanted: Sequence[Host]) -> Generator[bool, None, list[HostRow]]:
        page = self._spec.rows
        rows: list[HostRow] = []
        size = 0
        for host in wanted[page.offset : page.offset + page.limit]:
            yield self._spec.explain or self._is_slow(host.namespace)
            row = self._row(host)
            size += len(msgspec.json.encode(row))
            if rows and size > self._most_bytes:
                break
            rows.append(row)
        yield False
        return rows

    def _is_slow(self, namespace: str) -> bool:
        roster, one = self._hosts.roster(namespace), self._one
        return one is not None and not roster.is_held(one) and roster.query(one).is_slow

    def _row(self, host: Host) -> HostRow:
        roster, one = self._hosts.roster(host.namespace), self._one
        after = roster.labels(host.name)
        row = HostRow(namespace=host.namespace, name=host.name, changes=self._changes(host))
        if one is None:
            held = {key: value for key, value in sorted(after.items()) if key.startswith(LABEL_PREFIX)}
            return msgspec.structs.replace(
                row,
                labels={key.removeprefix(LABEL_PREFIX): value for key, value in held.items()},
                outcomes=tuple(self._each(host, roster)),
            )
        said = self._said(host, one)
        row = msgspec.structs.replace(
            row,
            verdict=said.verdict,
            values=said.values,
            error=said.error,
            code=said.code,
            taken=said.taken,
            parts=said.parts,
        )
        if not one.usable:
            return row
        return msgspec.structs.replace(row, before=host.labels.get(one.label), after=after.get(one.label))

    def _each(self, host: Host, roster: Roster) -> Iterator[HostOutcome]:
        for name in sorted(roster.classifications()):
            classification = roster.classification(name)
            if classification is None:
                continue
            said = self._said(host, classification)
            if said is not _NOT_ASKED:
                yield HostOutcome(
                    classification=name,
                    verdict=said.verdict,
                    values=said.values,
                    error=said.error,
                    code=said.code,
                    taken=said.taken,
                    parts=said.parts,
                )

    def _said(self, host: Host, classification: Classification) -> Said:
        """What a classification says of a host, and what keeps its label out."""
        roster, plan = self._hosts.roster(host.namespace), self._plan(host)
        outcome = roster.outcome(host.name, classification)
        if outcome is None:
            return _NOT_ASKED
        taken = None if plan is None else plan.missed.get(classification.name)
        return Said(
            VERDICTS[outcome.verdict],
            self._values(host, classification, outcome),
            _shortened(outcome.text),
            str(outcome.code),
            None if taken is None else TakenLabel(taken.value, taken.by),
            self._parts(host, classification) if self._spec.explain else (),
        )

    def _values(self, host: Host, classification: Classification, outcome: Outcome) -> tuple[Json, ...]:
        """What the query gave. Where it is neither true nor false, the query is asked once more for what it is."""
        if outcome.verdict is not Verdict.FAILED:
            return (outcome.verdict is Verdict.MATCH,)
        roster = self._hosts.roster(host.namespace)
        program = None if roster.is_held(classification) else roster.query(classification).program
        if outcome.code is not Code.QUERY_NOT_BOOLEAN or program is None:
            return ()
        found = given_by(program, _decoded(roster.inventory(host.name)), QUERY_LIMITS.value.budgets())
        return tuple(shown(each) for each in found[:_MOST_VALUES])

    def _parts(self, host: Host, classification: Classification) -> tuple[QueryPart, ...]:
        inventory = _decoded(self._hosts.roster(host.namespace).inventory(host.name))
        found = explain_query(classification.query, inventory)
        return tuple(QueryPart(each.text, tuple(map(shown, each.values)), each.more) for each in found.parts)

    # ------------------------------------------------------------------------------------------------------- summaries

    def _outcomes(self, groups: Mapping[Outcome, Sequence[Host]]) -> Generator[bool, None, list[OutcomeCount]]:
        """Matches first, then failures, the most frequent first: each text is another mistake. Then the rest."""
        found: list[OutcomeCount] = []
        ordered = sorted(
            groups.items(), key=lambda each: (_ORDER.index(VERDICTS[each[0].verdict]), -len(each[1]), each[0].text)
        )
        for number, (outcome, hosts) in enumerate(ordered[:_MOST_GROUPS]):
            explained = self._spec.explain and number < _MOST_EXPLAINED and self._one is not None
            yield explained
            examples = tuple(each.name for each in hosts[:_EXAMPLES])
            parts = self._parts(hosts[0], self._one) if explained and self._one is not None else ()
            verdict = VERDICTS[outcome.verdict]
            found.append(
                OutcomeCount(verdict, len(hosts), examples, _shortened(outcome.text), str(outcome.code), parts)
            )
        return found

    def _fares(self) -> Iterator[ClassificationFare]:
        for namespace, roster in self._hosts.rosters():
            for name in sorted(roster.classifications()):
                each = roster.classification(name)
                if each is None or not each.label or roster.is_held(each):
                    continue
                found = report(roster, each)
                conditions = (PreviewCondition(kind, *told) for kind, told in found.conditions.items())
                key = each.label.removeprefix(LABEL_PREFIX)
                yield ClassificationFare(
                    namespace, name, key, each.value, each.query, found.matched, found.errors, tuple(conditions)
                )


def shown(value: Value) -> Json:
    """A value of a query as an answer has it: itself, or the beginning of its JSON if that is long."""
    text = short_json(value, _LONGEST_VALUE)
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return text.encode("utf-8", "replace").decode("utf-8")


def _decoded(inventory: bytes) -> Json:
    return msgspec.json.decode(inventory)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
