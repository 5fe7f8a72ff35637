"""Builtins about arrays and objects: their parts, their order, what they contain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from muster.jq import error_texts as texts
from muster.jq.budgets import SHORT_TEXT
from muster.jq.error_texts import type_name
from muster.jq.errors import JqError
from muster.jq.values.arithmetic import add
from muster.jq.values.encoding import encode_scalar, preview
from muster.jq.values.indexing import members, positions, text_positions
from muster.jq.values.numbers import bounded, is_number, to_float, to_int
from muster.jq.values.ordering import compare, equal, has_python_order, sort_key, sorted_keys, sorted_values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value


def length(meter: Meter, value: Value) -> Value:
    if value is None:
        return 0
    if is_number(value):
        return abs(value) if type(value) is float else bounded(meter, abs(value))
    if isinstance(value, bool):
        raise texts.not_applicable(meter, "length", value)
    return len(value)


def keys(meter: Meter, value: Value) -> list[Value]:
    if isinstance(value, list):
        meter.grow(len(value))
        return list(range(len(value)))
    if isinstance(value, dict):
        meter.grow(len(value))
        return sorted_keys(meter, value)
    raise texts.not_applicable(meter, "keys", value)


def has(meter: Meter, value: Value, key: Value) -> bool:
    if isinstance(value, list) and is_number(key):
        return 0 <= to_int(key) < len(value)
    if isinstance(value, dict) and isinstance(key, str):
        if len(key) > SHORT_TEXT:
            meter.read(len(key))
        return key in value
    if value is None:
        return False
    raise texts.not_applicable(meter, "has", value, key)


def _values(meter: Meter, name: str, value: Value, *args: Any) -> list[Value]:
    """The members, one by one: charged, because whoever asks goes over them."""
    if not isinstance(value, list | dict):
        raise texts.not_applicable(meter, name, value, *args)
    meter.work(len(value))
    return members(meter, value)


def add_all(meter: Meter, value: Value) -> Value:
    return _sum(meter, _values(meter, "add", value))


def _sum(meter: Meter, items: Iterable[Value]) -> Value:
    """Runs of texts, arrays or objects are put together at once, so that many small parts stay cheap."""
    run: list[Value] = []
    kind: type | None = None
    for item in items:
        if item is None:
            continue
        if type(item) is kind and (kind is str or kind is list or kind is dict):
            run.append(item)
            continue
        run = [add(meter, _joined(meter, kind, run), item)]
        kind = type(run[0])
    return _joined(meter, kind, run)


def _joined(meter: Meter, kind: type | None, run: list[Value]) -> Value:
    if len(run) < 2:
        return run[0] if run else None
    if kind is str:
        meter.work(len(run))
        meter.grow_text(sum(map(len, run)))
        return "".join(run)
    if kind is list:
        meter.work(len(run))
        meter.grow(sum(map(len, run)))
        return [item for part in run for item in part]
    merged: dict[str, Value] = {}
    for part in run:
        meter.grow(2 * len(part) + 1)
        merged.update(part)
    return merged


def join(meter: Meter, value: Value, separator: Value) -> Value:
    items = _values(meter, "join", value, separator)
    if not items:
        return ""
    meter.grow(2 * len(items))
    meter.work(2 * len(items))
    parts: list[Value] = []
    for position, item in enumerate(items):
        parts.append(separator if position else "")
        parts.append(encode_scalar(meter, item) if is_number(item) or isinstance(item, bool) else item)
    return _sum(meter, parts)


def reverse(meter: Meter, value: Value) -> list[Value]:
    if not isinstance(value, list):
        raise texts.not_applicable(meter, "reverse", value)
    meter.grow(len(value))
    return value[::-1]


def contains(meter: Meter, value: Value, part: Value) -> bool:
    """Texts hold texts, arrays hold every item, objects hold every field; scalars are equal or of one type."""
    if is_number(value) and is_number(part):
        return to_float(value) == to_float(part) if float in (type(value), type(part)) else bool(value == part)
    if isinstance(value, str) and isinstance(part, str):
        if len(value) > SHORT_TEXT:
            meter.work(len(value))
        return part in value
    if isinstance(value, list) and isinstance(part, list):
        meter.step(len(value) * len(part))
        return all(any(_holds(meter, item, wanted) for item in value) for wanted in part)
    if isinstance(value, dict) and isinstance(part, dict):
        meter.step(len(part))
        return len(value) >= len(part) and all(
            key in value and _holds(meter, value[key], wanted) for key, wanted in part.items()
        )
    if value is part:
        return True
    raise texts.not_applicable(meter, "contains", value, part)


def _holds(meter: Meter, value: Value, part: Value) -> bool:
    if type_name(value) != type_name(part) or (isinstance(value, bool) and value is not part):
        return False
    return contains(meter, value, part)


def _found(name: str, meter: Meter, value: Value, wanted: Value) -> list[int] | None:
    """Every position, or None when there is nothing to look in or for."""
    if value is None:
        return None
    if isinstance(value, list):
        return positions(meter, value, wanted if isinstance(wanted, list) else [wanted])
    if isinstance(value, str) and isinstance(wanted, str):
        return text_positions(meter, value, wanted)
    raise texts.not_applicable(meter, name, value, wanted)


def indices(meter: Meter, value: Value, wanted: Value) -> Value:
    return _found("indices", meter, value, wanted)


def index_of(meter: Meter, value: Value, wanted: Value) -> Value:
    if isinstance(value, str) and isinstance(wanted, str):
        meter.work(len(value))
        at = value.find(wanted) if wanted else -1
        return at if at >= 0 else None
    found = _found("index", meter, value, wanted)
    return found[0] if found else None


def last_index_of(meter: Meter, value: Value, wanted: Value) -> Value:
    if isinstance(value, str) and isinstance(wanted, str):
        # From behind by reversing both: Python's own rfind is quadratic in the worst case, its find is not.
        meter.grow_text(len(value) + len(wanted))
        meter.work(len(value))
        at = value[::-1].find(wanted[::-1]) if wanted else -1
        return len(value) - at - len(wanted) if at >= 0 else None
    found = _found("rindex", meter, value, wanted)
    return found[-1] if found else None


def flatten(meter: Meter, value: Value) -> list[Value]:
    flat: list[Value] = []
    _flatten_into(meter, flat, _values(meter, "flatten", value), -1.0)
    return flat


def flatten_levels(meter: Meter, value: Value, depth: Value) -> list[Value]:
    items = _values(meter, "flatten", value)
    if not is_number(depth):
        raise texts.not_applicable(meter, "flatten", depth)
    levels = to_float(depth)
    if levels < 0 or levels != levels:
        raise JqError(f"flatten depth should not be negative: {preview(meter, levels)}")
    flat: list[Value] = []
    _flatten_into(meter, flat, items, levels)
    return flat


def _flatten_into(meter: Meter, flat: list[Value], items: list[Value], levels: float) -> None:
    meter.step(len(items))
    meter.grow(len(items))
    for item in items:
        if isinstance(item, list) and levels != 0:
            _flatten_into(meter, flat, item, levels - 1)
        else:
            flat.append(item)


def to_entries(meter: Meter, value: Value) -> list[Value]:
    if isinstance(value, list):
        meter.grow(12 * len(value))
        return [{"key": at, "value": item} for at, item in enumerate(value)]
    if isinstance(value, dict):
        meter.grow(12 * len(value))
        return [{"key": key, "value": value[key]} for key in sorted_keys(meter, value)]
    raise texts.not_applicable(meter, "keys", value)


def from_entries(meter: Meter, value: Value) -> dict[str, Value]:
    made: dict[str, Value] = {}
    entries = members(meter, value)
    meter.step(len(entries))
    for entry in entries:
        if entry is not None and not isinstance(entry, dict):
            raise texts.expected_object(meter, entry)
        entry = entry or {}
        key = None
        for name in ("key", "Key", "name", "Name"):
            key = entry.get(name)
            if key is not None and key is not False:
                break
        meter.grow(2)
        item = entry["value"] if "value" in entry else entry.get("Value")
        if not isinstance(key, str):
            raise texts.key_not_string(meter, key)
        made[key] = item
    return made


# ── order ───────────────────────────────────────────────────────────────────


def _array(meter: Meter, name: str, value: Value) -> list[Value]:
    if not isinstance(value, list):
        raise texts.not_applicable(meter, name, value)
    return value


def _extreme(meter: Meter, items: list[Value], by: list[Value], *, least: bool) -> Value:
    if not items:
        return None
    meter.work(len(items))
    best = 0
    for at in range(1, len(by)):
        if (compare(meter, by[best], by[at]) > 0) == least:
            best = at
    return items[best]


def _keyed(meter: Meter, name: str, value: Value, by: Value) -> tuple[list[Value], list[Value]]:
    if not isinstance(value, list) or not isinstance(by, list):
        raise texts.not_applicable(meter, name, value, by)
    if len(value) != len(by):
        raise texts.failed(meter, name, value, by, cause="length mismatch")
    return value, by


def least_by(meter: Meter, value: Value, by: Value) -> Value:
    items, keys_ = _keyed(meter, "min_by", value, by)
    return _extreme(meter, items, keys_, least=True)


def greatest_by(meter: Meter, value: Value, by: Value) -> Value:
    items, keys_ = _keyed(meter, "max_by", value, by)
    return _extreme(meter, items, keys_, least=False)


def least(meter: Meter, value: Value) -> Value:
    return _extreme(meter, _array(meter, "min", value), value, least=True)


def greatest(meter: Meter, value: Value) -> Value:
    return _extreme(meter, _array(meter, "max", value), value, least=False)


def sort(meter: Meter, value: Value) -> list[Value]:
    return sorted_values(meter, _array(meter, "sort", value))


def _ordered(name: str, meter: Meter, value: Value, by: Value) -> list[tuple[Value, Value]]:
    items, keys_ = _keyed(meter, name, value, by)
    meter.grow(3 * len(items))
    meter.work(8 * len(items))
    pairs = list(zip(keys_, items, strict=True))
    if all(type(key) is list and len(key) == 1 for key in keys_) and has_python_order(meter, [key[0] for key in keys_]):
        return sorted(pairs, key=lambda pair: pair[0][0])
    order = sort_key(meter)
    return sorted(pairs, key=lambda pair: order(pair[0]))


def sort_by(meter: Meter, value: Value, by: Value) -> list[Value]:
    return [item for _, item in _ordered("sort_by", meter, value, by)]


def _groups(name: str, meter: Meter, value: Value, by: Value) -> list[list[Value]]:
    groups: list[list[Value]] = []
    last: Value = None
    for key, item in _ordered(name, meter, value, by):
        if groups and equal(meter, last, key):
            groups[-1].append(item)
        else:
            groups.append([item])
            last = key
    return groups


def group_by(meter: Meter, value: Value, by: Value) -> list[list[Value]]:
    return _groups("group_by", meter, value, by)


def unique_by(meter: Meter, value: Value, by: Value) -> list[Value]:
    return [group[0] for group in _groups("unique_by", meter, value, by)]


def unique(meter: Meter, value: Value) -> list[Value]:
    _array(meter, "unique", value)
    return [group[0] for group in _groups("unique", meter, value, value)]


def transpose(meter: Meter, value: Value) -> list[Value]:
    rows = _array(meter, "transpose", value)
    meter.work(len(rows))
    if not all(isinstance(row, list) for row in rows):
        raise texts.not_applicable(meter, "transpose", value)
    width = max(map(len, rows), default=0)
    meter.grow(width * (len(rows) + 4))
    meter.work(width * len(rows))
    return [[row[at] if at < len(row) else None for row in rows] for at in range(width)]


def bsearch(meter: Meter, value: Value, wanted: Value) -> int:
    if not isinstance(value, list):
        raise texts.not_applicable(meter, "bsearch", value, wanted)
    low, high = 0, len(value)
    while low < high:
        middle = (low + high) // 2
        if compare(meter, value[middle], wanted) >= 0:
            high = middle
        else:
            low = middle + 1
    return low if low < len(value) and equal(meter, value[low], wanted) else -low - 1


NATIVES: Mapping[tuple[str, int], Callable[..., Any]] = {
    ("length", 0): length,
    ("keys", 0): keys,
    ("has", 1): has,
    ("add", 0): add_all,
    ("join", 1): join,
    ("reverse", 0): reverse,
    ("contains", 1): contains,
    ("inside", 1): lambda meter, value, whole: contains(meter, whole, value),
    ("indices", 1): indices,
    ("index", 1): index_of,
    ("rindex", 1): last_index_of,
    ("flatten", 0): flatten,
    ("flatten", 1): flatten_levels,
    ("to_entries", 0): to_entries,
    ("from_entries", 0): from_entries,
    ("min", 0): least,
    ("max", 0): greatest,
    ("sort", 0): sort,
    ("unique", 0): unique,
    ("_min_by", 1): least_by,
    ("_max_by", 1): greatest_by,
    ("_sort_by", 1): sort_by,
    ("_group_by", 1): group_by,
    ("_unique_by", 1): unique_by,
    ("transpose", 0): transpose,
    ("bsearch", 1): bsearch,
    ("type", 0): lambda _meter, value: type_name(value),
}
