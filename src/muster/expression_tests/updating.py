"""Writing what came of the cases into a test file where it says something else; the rest of the text stays."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple

import yaml

from muster.expression_tests.outcome import DENIED, FAILED, VALUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.expression_tests.outcome import Outcome
    from muster.expression_tests.tables import Tested
    from muster.values.json import Json

_WORDS: Final = re.compile(r"[A-Za-z]+(?: [A-Za-z]+)*")
_JSON: Final = (str, bool, int, float, list, dict, type(None))


class _Edit(NamedTuple):
    start: int
    end: int
    text: str


def updated(text: str, results: Iterable[tuple[int, Tested]]) -> str:
    """The text of a file with new expectations; results are with the number of their document in the file."""
    documents = list(yaml.compose_all(text, Loader=yaml.SafeLoader))
    edits = [
        edit
        for document, each in results
        if not each.passed and each.outcome is not None
        for edit in _edits(_case(documents[document], each.number), each.outcome)
    ]
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def _case(document: yaml.Node, number: int) -> yaml.MappingNode:
    cases = _member(document, "cases")
    assert isinstance(cases, yaml.SequenceNode)  # noqa: S101 - the table was read and run
    case = cases.value[number]
    assert isinstance(case, yaml.MappingNode)  # noqa: S101
    return case


def _member(node: yaml.Node, name: str) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == name:
                found: yaml.Node = value
                return found
    return None


def _edits(case: yaml.MappingNode, outcome: Outcome) -> list[_Edit]:
    wanted = _wanted(outcome)
    edits = []
    places = {key.value: number for number, (key, _) in enumerate(case.value)}
    for name, value in wanted.items():
        at = places.get(name)
        if at is not None:
            old = case.value[at][1]
            edits.append(_Edit(old.start_mark.index, _end(old), _written(value)))
        elif name in ("expect", "error"):
            edits.append(_said_instead(case, places, f"{name}: {_written(value)}"))
    if "message" in places and not wanted.get("message"):
        edits.append(_removed(case, places["message"]))
    if (at := places.get("annotations")) is not None and outcome.verdict not in (VALUE, FAILED):
        old = case.value[at][1]
        found = {key.value: outcome.notes[key.value] for key, _ in old.value if key.value in outcome.notes}
        edits.append(_Edit(old.start_mark.index, _end(old), json.dumps(found, ensure_ascii=False)))
    return edits


def _said_instead(case: yaml.MappingNode, places: Mapping[str, int], words: str) -> _Edit:
    """In the place of what was expected of the other kind, a value or an error; else before everything."""
    for name in ("expect", "error"):
        if name in places:
            key, value = case.value[places[name]]
            return _Edit(key.start_mark.index, _end(value), words)
    first = case.value[0][0].start_mark
    between = ", " if case.flow_style else "\n" + " " * first.column
    return _Edit(first.index, first.index, words + between)


def _removed(case: yaml.MappingNode, number: int) -> _Edit:
    """A field that says nothing any more: its lines, or its part of a line."""
    key, value = case.value[number]
    text = key.start_mark.buffer or ""
    if not number:  # the first one shares its line with the mark of the case
        following = case.value[1][0].start_mark.index  # what is expected is another field
        return _Edit(key.start_mark.index, following, "")
    if case.flow_style:
        return _Edit(_end(case.value[number - 1][1]), _end(value), "")
    line_end = text.find("\n", _end(value))
    start = key.start_mark.index - key.start_mark.column
    return _Edit(start, line_end + 1 if line_end >= 0 else _end(value), "")


def _written(value: Json) -> str:
    """As people would write it: words without quotes where YAML needs none."""
    if isinstance(value, str) and _WORDS.fullmatch(value) and yaml.safe_load(value) == value:
        return value
    return json.dumps(value, ensure_ascii=False)


def _end(node: yaml.Node) -> int:
    """The end of a node: of a block, without the line break and the spaces that belong to what follows."""
    end = node.end_mark.index
    text = node.start_mark.buffer
    if text is None or not isinstance(node, yaml.CollectionNode) or node.flow_style:
        return end
    while end > node.start_mark.index and text[end - 1] in " \n":
        end -= 1
    return end


def _wanted(outcome: Outcome) -> dict[str, Json]:
    if outcome.verdict == VALUE:
        return {"expect": outcome.value if isinstance(outcome.value, _JSON) else str(outcome.value)}
    if outcome.verdict == FAILED:
        return {"error": outcome.message}
    return {"expect": outcome.verdict} | ({"message": outcome.message} if outcome.verdict == DENIED else {})
