"""JSON request bodies: decoded fast, with duplicate keys found and errors worded as a Go server words them.

Called by `bodies`. The wording matters because clients and people compare it with a real kube-apiserver's.
Nothing here knows HTTP or kinds.
"""

from __future__ import annotations

import json
from math import isfinite

import msgspec

from muster.hub.requests import MalformedBodyError
from muster.hub.rest.limits import check_depth
from muster.values.json import Json, JsonObject
from muster.values.json_faults import find_fault

# A text longer than this is described by the decoder's own words: walking megabytes for a nicer sentence would let one
# client hold up the others.
_WORDED = 256 * 1024

# Finding nineteen digits in a row by translation and a plain search is ten times as fast as by a pattern.
_DIGITS_AS_ZERO = bytes(0x30 if 0x30 <= byte <= 0x39 else 0x20 for byte in range(256))
_MANY_DIGITS = b"0" * 19
_INT64 = 1 << 63
_EXACT = (1 << 53) - 1  # up to here a float holds every integer


def decode_json(text: bytes) -> tuple[Json, tuple[str, ...]]:
    """The value and the paths of its duplicate keys. Raises MalformedBodyError, or StatusError when it is too deep."""
    try:
        value = _decode(text)
    except RecursionError:
        check_depth(None, unbounded=True)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise MalformedBodyError(_wording(text, error)) from None
    if not isinstance(value, (dict, list)):
        return value, ()
    check_depth(value, openings=text.count(b"{") + text.count(b"["))
    if _MANY_DIGITS in text.translate(_DIGITS_AS_ZERO):
        value = _as_stored_by_go(value)
    # Every key of compact JSON is followed by `":`, so a body with more of those than its own compact form has lost
    # some to duplicates. Other spellings only lead to the slow but exact way.
    if text.count(b'":') == msgspec.json.encode(value).count(b'":'):
        return value, ()
    return value, _duplicates(text)


def _decode(text: bytes) -> Json:
    try:
        return _DECODER.decode(text)
    except OverflowError:  # a number that no float holds; the decoder has words for it
        return msgspec.json.decode(text)


def _fraction(number: str) -> Json:
    """A number with a point or an exponent, as `_as_stored_by_go` has it."""
    value = float(number)
    if not isfinite(value):
        raise OverflowError
    return int(value) if value.is_integer() and abs(value) <= _EXACT else value


_DECODER = msgspec.json.Decoder(float_hook=_fraction)


def _wording(text: bytes, error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"invalid UTF-8 at byte {error.start}"
    if len(text) <= _WORDED:
        fault = find_fault(text.decode("utf-8", "surrogateescape"))
        return str(error) if fault is None else fault.unmarshal_words
    return str(error)


def _as_stored_by_go(value: Json) -> Json:
    """Numbers as they are after a Go server has stored them: integers beyond 64 bits are floats, `1.0` is `1`.

    No deeper than the limit on bodies, so this may recurse.
    """
    kind = value.__class__
    if kind is dict:
        return {key: _as_stored_by_go(item) for key, item in value.items()}
    if kind is list:
        return [_as_stored_by_go(item) for item in value]
    if kind is int and not -_INT64 <= value < _INT64:
        return float(value) if abs(value) < 10**308 else 1e308
    if kind is float and value.is_integer() and abs(value) <= _EXACT:
        return int(value)
    return value


def _duplicates(text: bytes) -> tuple[str, ...]:
    repeated: dict[int, list[str]] = {}

    def collect(pairs: list[tuple[str, Json]]) -> JsonObject:
        found = dict(pairs)
        if len(found) != len(pairs):
            seen: set[str] = set()
            # `add` gives None, so a key that is new is remembered and left out.
            names = [key for key, _ in pairs if key in seen or seen.add(key)]  # type: ignore[func-returns-value]
            repeated[id(found)] = list(dict.fromkeys(names))
        return found

    try:
        tree = json.loads(text, object_pairs_hook=collect)
    except (ValueError, RecursionError):  # msgspec read it, so this is a number Python refuses for its length
        return ()
    if not repeated:
        return ()
    paths: list[str] = []
    pending: list[tuple[str, Json]] = [("", tree)]
    while pending:
        path, node = pending.pop()
        if isinstance(node, dict):
            paths.extend(_member(path, name) for name in repeated.get(id(node), ()))
            pending.extend((_member(path, key), item) for key, item in reversed(node.items()))
        elif isinstance(node, list):
            pending.extend((f"{path}[{index}]", item) for index, item in reversed(list(enumerate(node))))
    return tuple(paths)


def _member(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
