"""A plan as a picture: who needs whom, in Mermaid for documents and in SVG for anything that shows pictures."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Protocol

from muster.resolution.telling.plan import Action

if TYPE_CHECKING:
    from collections.abc import Sequence

_WIDTH, _HEIGHT, _GAP_X, _GAP_Y, _MARGIN = 220, 44, 40, 60, 20
_FILL = {Action.INSTALL: "#d7f0d7", Action.UPDATE: "#fdf0c8", Action.KEEP: "#e8e8e8"}


class DrawnStep(Protocol):
    """As much of an operator of a plan as is drawn."""

    @property
    def action(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def channel(self) -> str: ...
    @property
    def wants(self) -> tuple[str, ...]: ...
    @property
    def needs(self) -> tuple[str, ...]: ...


class Drawn(Protocol):
    """A plan, or what an answer has of one."""

    @property
    def steps(self) -> Sequence[DrawnStep]: ...


def mermaid(plan: Drawn) -> str:
    """A flowchart; wants are round, operators square."""
    lines = ["flowchart TD"]
    numbers = {step.name: f"n{place}" for place, step in enumerate(plan.steps)}
    for step in plan.steps:
        text = f"{step.name}<br/>{step.action}".replace('"', "#quot;")
        lines.append(f'  {numbers[step.name]}["{text}"]')
        for want in step.wants:
            quoted = want.replace('"', "#quot;")
            lines.append(f'  w{numbers[step.name]}(["{quoted}"]) --> {numbers[step.name]}')
    for step in plan.steps:
        lines += [f"  {numbers[step.name]} --> {numbers[need]}" for need in step.needs if need in numbers]
    return "\n".join(lines) + "\n"


def svg(plan: Drawn) -> str:
    """Rows by distance from what is wanted."""
    rows = _rows(plan)
    places: dict[str, tuple[int, int]] = {}
    for depth, names in enumerate(rows):
        for column, name in enumerate(names):
            places[name] = (_MARGIN + column * (_WIDTH + _GAP_X), _MARGIN + depth * (_HEIGHT + _GAP_Y))
    width = 2 * _MARGIN + max((len(names) for names in rows), default=1) * (_WIDTH + _GAP_X) - _GAP_X
    height = 2 * _MARGIN + max(len(rows), 1) * (_HEIGHT + _GAP_Y) - _GAP_Y
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        ' font-family="sans-serif" font-size="13">',
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0 0 L8 4 L0 8 z"/></marker></defs>',
    ]
    for step in plan.steps:
        x, y = places[step.name]
        for need in step.needs:
            if need in places:
                to_x, to_y = places[need]
                parts.append(
                    f'<line x1="{x + _WIDTH // 2}" y1="{y + _HEIGHT}" x2="{to_x + _WIDTH // 2}" y2="{to_y}"'
                    ' stroke="#555" marker-end="url(#arrow)"/>'
                )
    for step in plan.steps:
        x, y = places[step.name]
        parts.append(
            f'<rect x="{x}" y="{y}" width="{_WIDTH}" height="{_HEIGHT}" rx="6" fill="{_FILL[Action(step.action)]}"'
            ' stroke="#555"/>'
            f'<text x="{x + 10}" y="{y + 18}">{escape(step.name)}</text>'
            f'<text x="{x + 10}" y="{y + 35}" fill="#555">{escape(str(step.action))} {escape(step.channel)}</text>'
        )
    return "\n".join([*parts, "</svg>"]) + "\n"


def _rows(plan: Drawn) -> list[list[str]]:
    depth: dict[str, int] = {}
    needs = {step.name: step.needs for step in plan.steps}
    current = [step.name for step in plan.steps if step.wants]
    level = 0
    while current:
        fresh = [name for name in dict.fromkeys(current) if name in needs and name not in depth]
        for name in fresh:
            depth[name] = level
        current = [need for name in fresh for need in needs[name]]
        level += 1
    rest = [step.name for step in plan.steps if step.name not in depth]
    rows = [[step.name for step in plan.steps if depth.get(step.name) == each] for each in range(level)]
    return [row for row in [*rows, rest] if row]
