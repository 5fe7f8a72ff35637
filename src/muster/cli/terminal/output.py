"""Printing objects: tables as the server lays them out, JSON, YAML, names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import msgspec

from muster.cli.inputs.options import Report
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence


_GAP = "   "


class TablePrinter:
    """Prints Tables in kubectl's layout; a header whenever the columns change, so that a watch reads like a list."""

    def __init__(self, *, wide: bool, with_namespace: bool, with_kind: bool = False) -> None:
        self._wide = wide
        self._with_namespace = with_namespace
        self._with_kind = with_kind
        self._columns: list[JsonObject] = []
        self._widths: list[int] = []

    def print(self, table: JsonObject, kind: str = "") -> None:
        columns = table.get("columnDefinitions") or self._columns
        shown = [i for i, column in enumerate(columns) if self._wide or not column.get("priority")]
        rows = [self._row(row, shown, kind) for row in table.get("rows") or []]
        if not rows:
            return
        fresh = columns != self._columns
        if fresh:
            self._columns = columns
            header = [columns[i]["name"].upper() for i in shown]
            rows.insert(0, ["NAMESPACE", *header] if self._with_namespace else header)
            self._widths = [0] * len(rows[0])
        self._widths = [max(self._widths[i], *(len(row[i]) for row in rows)) for i in range(len(rows[0]))]
        for row in rows:
            padded = (cell.ljust(width) for cell, width in zip(row, self._widths, strict=True))
            sys.stdout.write(_GAP.join(padded).rstrip() + "\n")
        sys.stdout.flush()

    def _row(self, row: JsonObject, shown: Sequence[int], kind: str) -> list[str]:
        cells = [_cell(row["cells"][i]) for i in shown]
        if self._with_kind and cells:
            cells[0] = f"{kind}/{cells[0]}"
        if self._with_namespace:
            cells.insert(0, row.get("object", {}).get("metadata", {}).get("namespace", ""))
        return cells


def _cell(value: Json) -> str:
    if value is None:
        return "<none>"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value).partition("\n")[0]


def print_json(value: Json) -> None:
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(value), indent=4).decode() + "\n")


def print_yaml(value: Json) -> None:
    sys.stdout.write(yaml_text(value))


def print_report(value: Json, report: Report) -> None:
    """An answer for machines."""
    if report is Report.YAML:
        print_yaml(value)
    else:
        print_json(value)


def yaml_text(value: Json) -> str:
    """YAML as people write it: block style, keys in the given order, no aliases."""
    import yaml

    class Plain(yaml.CSafeDumper):
        def ignore_aliases(self, data: Json) -> bool:  # noqa: ARG002 - PyYAML's signature
            return True

    return yaml.dump(value, Dumper=Plain, sort_keys=False, allow_unicode=True, width=120)
