"""Explanations as tables: plain text for terminals and logs, HTML for notebooks. Everything in them is escaped."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

_WIDEST = 100


@dataclass(frozen=True, slots=True)
class Table:
    """A caption, headers, and rows of as many cells."""

    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def text(self) -> str:
        """Columns side by side; the last one as wide as it is."""
        lines = [
            tuple(header.upper() for header in self.headers),
            *(tuple(map(_on_one_line, row)) for row in self.rows),
        ]
        widths = [max(len(line[at]) for line in lines) for at in range(len(self.headers))]
        shown = ("   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
        return "\n".join([self.caption, *(line.rstrip() for line in shown)])

    def html(self) -> str:
        """A table that a notebook shows."""
        from html import escape

        head = "".join(f"<th>{escape(header)}</th>" for header in self.headers)
        body = "".join(
            "<tr>" + "".join(f'<td style="text-align:left">{escape(cell)}</td>' for cell in row) + "</tr>"
            for row in self.rows
        )
        caption = f"<caption>{escape(self.caption)}</caption>"
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _on_one_line(cell: str) -> str:
    line = " ".join(cell.split())
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"


class Tabular:
    """A result that shows itself as a table: printed as text, in a notebook as HTML."""

    __slots__ = ()

    @abstractmethod
    def table(self) -> Table: ...

    def __str__(self) -> str:
        return self.table().text()

    def _repr_html_(self) -> str:
        return self.table().html()
