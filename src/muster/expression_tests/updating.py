"""Writing what came of the cases into a test file where it says something else; the rest of the text stays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

import yaml

from muster.expression_tests.outcome import DENIED, FAILED, VALUE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.expression_tests.outcome import Outcome
    from muster.expression_tests.tables import Tested
    from muster.values.json import Json

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
    for name, value in wanted.items():
        old = _member(case, name)
        written = json.dumps(value, ensure_ascii=False)
        if old is not None:
            edits.append(_Edit(old.start_mark.index, _end(old), written))
        elif name != "message":
            first = case.value[0][0].start_mark
            between = ", " if case.flow_style else "\n" + " " * first.column
            edits.append(_Edit(first.index, first.index, f"{name}: {written}{between}"))
    return edits


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
