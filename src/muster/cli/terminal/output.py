"""Printing objects: tables as the server lays them out, JSON, YAML, names."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import TYPE_CHECKING

import msgspec

from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence


_GAP = "   "


class Report(StrEnum):
    """How answers are printed that are no objects."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


class TablePrinter:
    """Prints Tables in kubectl's layout; a header whenever the columns change, so that a watch reads like a list.

    `kind` goes before names where several kinds are shown; `labels` have columns of their own.
    """

    def __init__(
        self, *, wide: bool, with_namespace: bool, kind: str = "", labels: Sequence[str] = (), headers: bool = True
    ) -> None:
        self._wide = wide
        self._with_namespace = with_namespace
        self._kind = kind
        self._labels = labels
        self._headers = headers
        self._columns: list[JsonObject] = []
        self._widths: list[int] = []

    def print(self, table: JsonObject) -> None:
        columns = table.get("columnDefinitions")
        columns = columns or self._columns  # a watch tells them once
        shown = [i for i, column in enumerate(columns) if self._wide or not column.get("priority")]
        rows = [self._row(row, shown) for row in table.get("rows", ())]
        if not rows:
            return
        if columns != self._columns:
            self._columns = columns
            header = self._header([columns[i]["name"].upper() for i in shown])
            self._widths = [0] * len(header)
            if self._headers:
                rows.insert(0, header)
        self._widths = [max(self._widths[i], *(len(row[i]) for row in rows)) for i in range(len(rows[0]))]
        for row in rows:
            padded = (cell.ljust(width) for cell, width in zip(row, self._widths, strict=True))
            sys.stdout.write(_GAP.join(padded).rstrip() + "\n")
        sys.stdout.flush()

    def _header(self, names: list[str]) -> list[str]:
        labels = [key.rpartition("/")[2].upper() for key in self._labels]
        return [*(["NAMESPACE"] if self._with_namespace else []), *names, *labels]

    def _row(self, row: JsonObject, shown: Sequence[int]) -> list[str]:
        cells = [_cell(row["cells"][i]) for i in shown]
        metadata = row.get("object", {}).get("metadata", {})
        if self._kind and cells:
            cells[0] = f"{self._kind}/{cells[0]}"
        if self._with_namespace:
            cells.insert(0, metadata.get("namespace", ""))
        return [*cells, *(metadata.get("labels", {}).get(key, "") for key in self._labels)]


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
