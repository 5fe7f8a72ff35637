"""Values as text: one writer, and a style that says how leaves and containers look.

Formats, JSON, versions and error texts differ in their style only. `written` makes the whole text and charges for it;
`brief` is for people, and ends with an ellipsis where it gets long.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.cel.costs.meter import new_meter, spend, spend_on_text
from muster.cel.values import OptionalValue
from muster.errors import BudgetExceededError

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value

PER_ELEMENT = 6  # units: writing an element takes that much longer than looking at it
_LONG_TEXT = 256
BRIEF_VISITS = 300  # units, for about fifty elements
BRIEF_CHARACTERS = 1000


@dataclass(frozen=True, slots=True)
class Style:
    """How values are written. `leaf` writes whatever is no list or map; `outer` does where it stands alone.

    `key` writes a key; `ordered` entries are sorted by that text, or by what `order` makes of the key. An optional is
    a leaf unless `optional` frames it.
    """

    leaf: Callable[[Value], str]
    key: Callable[[Value], str]
    outer: Callable[[Value], str] | None = None
    between: str = ", "
    map_open: str = "{"
    map_close: str = "}"
    map_between: str = ", "
    colon: str = ": "
    ordered: bool = True
    order: Callable[[Value], str] | None = None
    optional: tuple[str, str] | None = None


class _Said(str):
    """A piece of text that is ready, among values that are still to be written."""

    __slots__ = ()


_OPEN, _CLOSE = "[", _Said("]")


def written(meter: Meter, value: Value, style: Style) -> str:
    """The whole text. Linear in what it visits and in the length of the text, all of which is charged."""
    pieces: list[str] = []
    _write(meter, value, style, pieces)
    return "".join(pieces)


def brief(value: Value, style: Style, characters: int = BRIEF_CHARACTERS, visits: int = BRIEF_VISITS) -> str:
    """The text for people to read, cut where it gets long. It has an allowance of its own and needs no meter."""
    if isinstance(value, (str, bytes)) and len(value) > characters:
        return (style.outer or style.leaf)(value[:characters]) + "…"
    pieces: list[str] = []
    try:
        _write(new_meter(visits + characters // 4), value, style, pieces, longest=characters)
    except BudgetExceededError:
        pieces.append("…")
    text = "".join(pieces)
    return text if len(text) <= 2 * characters else text[: 2 * characters] + "…"


def _write(meter: Meter, value: Value, style: Style, pieces: list[str], longest: int = 0) -> None:
    if style.outer is not None and not isinstance(value, (list, tuple, Mapping)):
        _write_leaf(meter, value, style.outer, pieces)
        return
    pending: list[Value] = [value]
    while pending:
        item = pending.pop()
        if item.__class__ is _Said:
            pieces.append(item)
        elif isinstance(item, (list, tuple)):
            spend(meter, PER_ELEMENT * len(item) + 1)
            pieces.append(_OPEN)
            pending.append(_CLOSE)
            between = _Said(style.between)
            for element in reversed(item):
                pending.append(element)
                pending.append(between)
            if item:
                pending.pop()
        elif isinstance(item, Mapping):
            spend(meter, 2 * PER_ELEMENT * len(item) + 1)
            pieces.append(style.map_open)
            pending.append(_Said(style.map_close))
            _push_entries(meter, item, style, pending)
        elif item.__class__ is OptionalValue and style.optional is not None and item.present:
            spend(meter, 1)
            pieces.append(style.optional[0])
            pending.append(_Said(style.optional[1]))
            pending.append(item.content)
        elif longest and isinstance(item, (str, bytes)) and len(item) > longest:
            _write_leaf(meter, item[:longest], style.leaf, pieces)
            spend(meter, meter[1])  # the rest would not be read
        else:
            _write_leaf(meter, item, style.leaf, pieces)


def _push_entries(meter: Meter, entries: Mapping[Value, Value], style: Style, pending: list[Value]) -> None:
    """The entries in the order they are written, last one first, as the stack wants them."""
    pairs = list(entries.items())
    order = style.order or style.key
    if style.ordered:
        pairs.sort(key=lambda pair: order(pair[0]))
    between = _Said(style.map_between)
    for raw_key, value in reversed(pairs):
        key = style.key(raw_key)
        spend_on_text(meter, len(key))
        pending.append(value)
        pending.append(_Said(key + style.colon))
        pending.append(between)
    if pairs:
        pending.pop()


def _write_leaf(meter: Meter, value: Value, leaf: Callable[[Value], str], pieces: list[str]) -> None:
    if isinstance(value, (str, bytes)) and len(value) > _LONG_TEXT:
        spend_on_text(meter, len(value))
    text = leaf(value)
    spend_on_text(meter, len(text))
    pieces.append(text)
