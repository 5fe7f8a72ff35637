"""How an import tells what it would do and has done, and the files that it writes instead."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from muster.api.parts import plain_conditions
from muster.cli.importing.hub import CHANGE, CREATE, REFUSED, SAME, conditions_of
from muster.cli.terminal.output import yaml_text
from muster.cli.terminal.paint import Shade, paint_for
from muster.controllers.runtime.conditions import merged
from muster.errors import InvalidObjectError
from muster.importing.objects import CLUSTERS, applied, counted, status_change
from muster.values.quoting import printable
from muster.values.yaml_reading import YamlError, YamlLimits, read_yaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from muster.cli.importing.hub import Planned
    from muster.importing.found import Found
    from muster.values.json import JsonObject

_SHADES: Final = {CREATE: Shade.GOOD, CHANGE: Shade.UNSURE, SAME: Shade.QUIET, REFUSED: Shade.BAD}
_MOST_LINES: Final = 20


def print_plan(plans: Sequence[Planned], found: Sequence[Found]) -> None:
    sys.stdout.writelines(f"{line}\n" for line in _lines(plans, found))
    sys.stdout.flush()


def _lines(plans: Sequence[Planned], found: Sequence[Found]) -> Iterator[str]:
    paint = paint_for()
    for each in sorted(plans, key=lambda one: one.found.name):
        what = paint(each.deed, _SHADES[each.deed])
        lines = [*each.lines] if each.error is None else [printable(str(each.error))]
        if each.deed == CREATE:
            yield f"{what} {each.found.name}: {lines[0]}"
            lines = lines[1:]
        else:
            yield f"{what} {each.found.name}" + (f": {lines.pop(0)}" if len(lines) == 1 else "")
        yield from (f"  {printable(line)}" for line in lines[:_MOST_LINES])
        if len(lines) > _MOST_LINES:
            yield f"  … and {len(lines) - _MOST_LINES} more"
        yield from (f"  {printable(line)}" for line in (*each.kept, *each.found.notes))
    for one in found:
        if one.fault:
            yield f"{paint('cannot', Shade.BAD)} {one.name or '?'} ({printable(one.origin)}): {printable(one.fault)}"
    counts = {deed: sum(each.deed == deed for each in plans) for deed in (CREATE, CHANGE, SAME, REFUSED)}
    words = {CREATE: "to create", CHANGE: "to change", SAME: "the same", REFUSED: "refused"}
    told = [f"{count} {words[deed]}" for deed, count in counts.items() if count]
    faults = sum(bool(one.fault) for one in found)
    told += [f"{faults} cannot be read"] if faults else []
    yield f"{counted(len(found), 'cluster')}: {', '.join(told) or 'nothing to do'}"


def write_files(folder: Path, found: Sequence[Found]) -> int:
    """A file for each cluster. What a file had of times stays where nothing else has changed; how many were written."""
    written = 0
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for each in found:
            if each.fault:
                continue
            path = folder / f"{each.name}.yaml"
            text = yaml_text(_document(each, _before(path)))
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
                written += 1
    except OSError as error:
        raise InvalidObjectError(str(folder), error.strerror or str(error)) from error
    return written


def _before(path: Path) -> JsonObject:
    try:
        document = read_yaml(path.read_bytes(), YamlLimits()) if path.exists() else None
    except YamlError:
        return {}
    return document.value if document is not None and isinstance(document.value, dict) else {}


def _document(found: Found, before: JsonObject) -> JsonObject:
    nothing = CLUSTERS.of({})
    conditions = merged(CLUSTERS.of(before).status.conditions, conditions_of(found), datetime.now(UTC))
    status = {**status_change(nothing.status, found.state), "conditions": plain_conditions(conditions)}
    return {**applied(found, None).object, "status": status}
