"""A test file: tables of cases, each about one expression or one manifest.

    kubernetes: "1.34"
    manifest: replicas.yaml          # or expression: size(name) > 3
    cases:
    - {name: three are few enough, object: {spec: {replicas: 3}}, expect: allowed}
    - {name: nine are too many, object: {spec: {replicas: 9}}, expect: denied, message: at most 5}

Files are read by whoever calls; nothing here knows where they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from muster.cel import NAMES, environment
from muster.cel.costs.meter import new_meter
from muster.cel.traversals import equals
from muster.cel.traversals import value_text as shown
from muster.errors import InvalidObjectError
from muster.expression_tests.outcome import ALLOWED, DENIED, FAILED, NOT_MATCHED, VALUE
from muster.expression_tests.subjects import PlainExpression, manifest_subject, types_from
from muster.selectors.purposes import type_fault
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from muster.cel.values.value import Value
    from muster.expression_tests.outcome import Outcome
    from muster.expression_tests.subjects import Subject

_VERDICTS: Final = (ALLOWED, DENIED, NOT_MATCHED)
_CASE_FIELDS: Final = frozenset(
    {
        *("name", "given", "expect", "error", "message", "annotations"),
        *("object", "oldObject", "params", "request", "namespaceObject", "authorizer", "device"),
    }
)
_WRITTEN: Final = (str, bool, int, float, list, tuple, dict, type(None))
_UNSET: Final = object()


class _Table(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    cases: list[JsonObject]
    name: str = ""
    expression: str = ""
    manifest: str = ""
    document: str = ""  # the name of the object that is meant, where the manifest has several
    part: str = ""  # a webhook, or a request for devices
    version: str = ""  # of a definition
    types: list[str] = []
    environment: str = ""
    kubernetes: str | float | int = ""
    variables: dict[str, str] = {}


@dataclass(frozen=True, slots=True)
class Tested:
    """One case, and what came of it."""

    table: str
    number: int
    name: str
    passed: bool
    found: str  # in the words of a test file
    problem: str = ""
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """A table that can be run."""

    name: str
    environment: str
    subject: Subject
    cases: Sequence[JsonObject] = field(default_factory=list)

    def run(self) -> Iterator[Tested]:
        for number, case in enumerate(self.cases):
            name = str(case.get("name", f"case {number + 1}"))
            place = f"{self.name}: {name}"
            try:
                _check_fields(case, place)
                outcome = self.subject.judge(case, place)
                problem = _problem(case, outcome, place)
            except InvalidObjectError as error:
                yield Tested(self.name, number, name, passed=False, found="", problem=str(error))
                continue
            yield Tested(self.name, number, name, not problem, _said(outcome), problem, outcome)


def read_table(
    document: Json,
    place: str,
    load: Callable[[str], list[JsonObject]],
    *,
    kubernetes: str = "",
) -> Table:
    """A document of a test file, compiled. Raises InvalidObjectError; `kubernetes` overrules the version it names."""
    _check_table(document, place)
    try:
        written = msgspec.convert(document, _Table)
    except msgspec.ValidationError as error:
        fault = type_fault(error, f"{place}: table")
        raise InvalidObjectError(fault.field, fault.message.removeprefix("Invalid value: ")) from None
    if bool(written.expression) == bool(written.manifest):
        raise InvalidObjectError(place, "a table is about an expression or a manifest: say one of them")
    env = _environment(written, place, kubernetes)
    name = written.name or " ".join(filter(None, (written.manifest, written.document, written.part)))
    name = name or written.expression.strip()
    if written.expression:
        given = list(dict.fromkeys(key for case in written.cases for key in _given(case)))
        subject: Subject = PlainExpression(
            written.expression, environment(env), written.variables, given, f"{place}: expression"
        )
    else:
        manifest = _chosen(load(written.manifest), written.document, written.manifest)
        types = types_from([each for file in written.types for each in load(file)], place)
        subject = manifest_subject(
            manifest, env, written.manifest, schema=types, version=written.version, part=written.part
        )
    if not written.cases:
        raise InvalidObjectError(place, "the table has no cases, so that nothing is tested")
    return Table(name, env, subject, written.cases)


def _given(case: JsonMapping) -> Sequence[str]:
    given = case.get("given")
    return list(given) if isinstance(given, dict) else ()


def _environment(written: _Table, place: str, kubernetes: str) -> str:
    version = kubernetes or str(written.kubernetes)
    if written.environment and version and not kubernetes:
        raise InvalidObjectError(place, "say environment or kubernetes, not both")
    if written.environment and not kubernetes:
        found = written.environment
    elif version:
        found = f"kubernetes-{version.removeprefix('v')}"
    else:
        found = "muster" if written.expression else NAMES[-5]
    if found not in NAMES:
        quoted = isinstance(written.kubernetes, float) and not kubernetes  # 1.30 without quotes is the number 1.3
        hint = '; a version needs quotes, "1.30", or YAML makes a number of it' if quoted else ""
        raise InvalidObjectError(place, f"there is no environment {found!r}: {', '.join(NAMES)}{hint}")
    return found


def _chosen(manifests: Sequence[JsonObject], name: str, file: str) -> JsonObject:
    """The one object that is meant."""
    found = [each for each in manifests if not name or _name(each) == name]
    if not name and len(found) > 1:
        # Bindings and the like have no expressions: a file with one policy needs no more words.
        found = [each for each in found if not str(each.get("kind")).endswith("Binding")]
    if len(found) != 1:
        names = ", ".join(f"{each.get('kind')} {_name(each)}" for each in manifests) or "nothing"
        if name and not found:
            raise InvalidObjectError(file, f"there is no document {name!r}; there is {names}")
        raise InvalidObjectError(file, f"say with `document` which object is meant; there is {names}")
    return found[0]


def _name(obj: JsonMapping) -> str:
    metadata = obj.get("metadata")
    return str(metadata.get("name", "")) if isinstance(metadata, dict) else ""


def _check_table(document: Json, place: str) -> None:
    """Fields that a table has not, in words that say what to do."""
    if not isinstance(document, dict):
        return
    if "kind" in document and "cases" not in document:
        told = f"this is a {document['kind']}: a test file names it as `manifest`, and has `cases`"
        raise InvalidObjectError(place, told)
    known = [each.encode_name for each in msgspec.structs.fields(_Table)]
    for name in document:
        if name not in known:
            close = nearest(str(name), known)
            hint = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(known)}"
            raise InvalidObjectError(place, f"a table has no field {name!r}; {hint}")
    if "cases" not in document:
        raise InvalidObjectError(place, "a table has `cases`, and a `manifest` or an `expression` that they are about")


def _check_fields(case: JsonMapping, place: str) -> None:
    for name in case:
        if name not in _CASE_FIELDS:
            close = nearest(name, _CASE_FIELDS)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise InvalidObjectError(place, f"a case has no field {name!r}{hint}")


def _problem(case: JsonMapping, outcome: Outcome, place: str) -> str:
    """Why the outcome is not what the case wants; empty if it is."""
    wanted = case.get("expect", _UNSET)
    if "error" in case:
        if outcome.verdict != FAILED:
            return f"an error was expected, there is {_said(outcome)}"
        return _missing(case["error"], outcome.message, "error")
    if outcome.verdict in (VALUE, FAILED):
        if wanted is _UNSET:
            raise InvalidObjectError(place, "say what to expect: expect or error")
        if outcome.verdict == FAILED:
            return f"error: {outcome.message}"
        return "" if _equal(wanted, outcome.value) else f"expected {shown(wanted)}, found {shown(outcome.value)}"
    if wanted is _UNSET:
        raise InvalidObjectError(place, f"say what to expect: {', '.join(_VERDICTS)}")
    verdict = {True: ALLOWED, False: DENIED}.get(wanted, wanted) if isinstance(wanted, bool) else wanted
    if verdict not in _VERDICTS:
        raise InvalidObjectError(place, f"expect is one of {', '.join(_VERDICTS)}, not {wanted!r}")
    if verdict != outcome.verdict:
        said = f": {outcome.message}" if outcome.message else ""
        return f"expected {verdict}, found {outcome.verdict}{said}"
    if "message" in case and (missing := _missing(case["message"], outcome.message, "message")):
        return missing
    return _annotated(case.get("annotations"), outcome.notes)


def _missing(wanted: Json, text: str, what: str) -> str:
    return "" if str(wanted) in text else f"expected the {what} to say {str(wanted)!r}, it is {text!r}"


def _annotated(wanted: Json, notes: Mapping[str, str]) -> str:
    for key, value in (wanted if isinstance(wanted, dict) else {}).items():
        if notes.get(key) != value:
            return f"expected audit annotation {key} to be {value!r}, it is {notes.get(key)!r}"
    return ""


def _equal(wanted: Json, value: Value) -> bool:
    """What YAML has no word for, such as times and quantities, is written as it is shown."""
    if not isinstance(value, _WRITTEN):
        return str(wanted) == shown(value)
    return bool(equals(new_meter(), wanted, value)) and isinstance(wanted, bool) == isinstance(value, bool)


def _said(outcome: Outcome) -> str:
    if outcome.verdict == VALUE:
        return shown(outcome.value)
    return f"{outcome.verdict}: {outcome.message}" if outcome.message else outcome.verdict
