"""What callers of the library hand in, checked where it comes in: a wrong argument is told by its name, in our words.

`muster.select` and its siblings, `muster.cel` and `muster.jq` call it. Objects become plain JSON values here, so that
nothing behind has to think of dates, which YAML makes of times, or of other things that Python has and JSON has not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, TypeVar

from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from muster.values.json import Json, JsonObject

T = TypeVar("T")
_TEXTS: Final = (str, bytes, bytearray)
_DEEPEST: Final = 500
_PLAIN: Final = (str, int, float, bool, type(None))
_MOST_LOOKED_AT: Final = 100_000  # values, to find out why something failed
_HALF: Final = re.compile("[\ud800-\udfff]")


class CheckedObjects(Sequence["JsonObject"]):
    """Objects that are plain JSON already: what `muster.load` gives. They are not looked at again."""

    __slots__ = ("_objects",)

    def __init__(self, objects: Iterable[JsonObject]) -> None:
        self._objects = tuple(objects)

    def __getitem__(self, at):  # type: ignore[no-untyped-def]  # as a tuple does: an object, or several for a slice
        found = self._objects[at]
        return type(self)(found) if isinstance(at, slice) else found

    def __len__(self) -> int:
        return len(self._objects)


def expected(value: T, wanted: type | tuple[type, ...], name: str, what: str) -> T:
    """The value, if it is of that type. Raises InvalidObjectError, which names the argument."""
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise InvalidObjectError(name, f"expected {what}, this is {_described(value)}")
    return value


def text(value: object, name: str, what: str = "a text") -> str:
    """A text of whole characters. Half of a surrogate pair can be neither written nor sent."""
    if not isinstance(value, str):
        raise InvalidObjectError(name, f"expected {what}, this is {_described(value)}")
    if not value.isascii() and _HALF.search(value):
        raise InvalidObjectError(name, "the text has half of a surrogate pair, which is no character")
    return value


def several(value: Iterable[T], wanted: type | tuple[type, ...], name: str, what: str) -> tuple[T, ...]:
    """Values that are all of one type. Raises InvalidObjectError, which names the first that is not."""
    if isinstance(value, _TEXTS) or not isinstance(value, Iterable):
        raise InvalidObjectError(name, f"expected {what}, several of them, this is {_described(value)}")
    return tuple(expected(each, wanted, f"{name}[{number}]", what) for number, each in enumerate(value))


def moment(value: datetime | None, name: str) -> datetime:
    """A moment, the present one if none is given. Without a time zone nobody knows which one it is."""
    if value is None:
        return datetime.now(UTC)
    expected(value, datetime, name, "a datetime")
    if value.tzinfo is None:
        raise InvalidObjectError(name, "the time needs a time zone: datetime(…, tzinfo=timezone.utc)")
    return value


def texts(value: object, name: str) -> tuple[str, ...]:
    """A text, or several."""
    if value is None:
        return ()
    if isinstance(value, str):
        return (text(value, name),)
    if not isinstance(value, Iterable) or isinstance(value, Mapping | bytes):
        raise InvalidObjectError(name, f"expected a text or a list of texts, this is {_described(value)}")
    return tuple(text(each, f"{name}[{number}]") for number, each in enumerate(value))


def plain_objects(value: object, name: str) -> list[JsonObject]:
    """Objects as plain JSON: of a list, of a List as kubectl prints it, or a single one. Raises InvalidObjectError."""
    if isinstance(value, CheckedObjects):
        return list(value)
    if isinstance(value, Mapping):
        items = value.get("items")
        if str(value.get("kind", "")).endswith("List") and isinstance(items, list):
            return plain_objects(items, f"{name}.items")
        return [_named(plain_object(value, name), name)]
    if isinstance(value, _TEXTS) or not isinstance(value, Iterable):
        hint = ": muster.load reads files" if isinstance(value, str) else ""
        raise InvalidObjectError(name, f"expected objects, this is {_described(value)}{hint}")
    found = []
    for number, each in enumerate(value):
        where = f"{name}[{number}]"
        found.append(_named(plain_object(each, where), where))
    return found


def plain_object(value: object, name: str) -> JsonObject:
    """An object as plain JSON, with a metadata and a kind that can be read. Raises InvalidObjectError."""
    import msgspec  # who only compiles expressions can do without

    expected(value, Mapping, name, "an object, which is a mapping")
    found: JsonObject = value if isinstance(value, dict) and _is_plain(value, 0) else _plain(value, name, 0)
    if not isinstance(found.get("metadata", {}), dict):
        raise InvalidObjectError(f"{name}.metadata", f"expected a mapping, this is {_described(found['metadata'])}")
    for part in ("apiVersion", "kind"):
        if part in found:
            expected(found[part], str, f"{name}.{part}", "a text")
    try:
        msgspec.json.encode(found)
    except UnicodeEncodeError:
        raise InvalidObjectError("", unlike_json([(name, found)]) or f"{name} cannot be written as JSON") from None
    return found


def _named(obj: JsonObject, name: str) -> JsonObject:
    metadata = obj.get("metadata", {})
    for part, is_needed in (("name", True), ("namespace", False), ("labels", False)):
        wanted, what = (dict, "a mapping") if part == "labels" else (str, "a text")
        if is_needed or metadata.get(part) is not None:
            expected(metadata.get(part), wanted, f"{name}.metadata.{part}", what)
    return obj


def _is_plain(value: Json, depth: int) -> bool:
    """Whether there is nothing to convert, as nearly always: looked at without a thought for where it is."""
    if depth > _DEEPEST:
        return False
    if type(value) is dict:
        return all(
            type(key) is str and (isinstance(each, _PLAIN) or _is_plain(each, depth + 1)) for key, each in value.items()
        )
    if type(value) is list:
        return all(isinstance(each, _PLAIN) or _is_plain(each, depth + 1) for each in value)
    return isinstance(value, _PLAIN)


def _plain(value: Json, path: str, depth: int) -> Json:
    if isinstance(value, _PLAIN):
        return value
    if depth > _DEEPEST:
        raise InvalidObjectError(path.partition(".")[0], f"nested deeper than {_DEEPEST} levels")
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InvalidObjectError(path, f"keys are texts, {key!r:.40} is {_described(key)}")
        return {key: _plain(each, f"{path}.{key}", depth + 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, f"{path}[{number}]", depth + 1) for number, each in enumerate(value)]
    if isinstance(value, datetime):
        return _time(value)
    raise InvalidObjectError(path, f"this is {_described(value)}, and JSON has no such values")


def unlike_json(values: Iterable[tuple[str, object]]) -> str:
    """Where one of the named values holds what JSON has not, and what that is; empty where nothing is found.

    For whoever has failed and looks for the cause: types count exactly, and only so much is looked at.
    """
    waiting = list(values)[::-1]
    for _ in range(_MOST_LOOKED_AT):
        if not waiting:
            break
        path, value = waiting.pop()
        if type(value) is dict:
            for key in value:
                if type(key) is not str:
                    return f"{path} has the key {key!r:.40}, which is {_described(key)}"
            waiting += [(f"{path}.{key:.100}", each) for key, each in value.items()][::-1]
        elif type(value) is list:
            waiting += [(f"{path}[{number}]", each) for number, each in enumerate(value)][::-1]
        elif type(value) is str:
            if not value.isascii() and _HALF.search(value):
                return f"{path} has half of a surrogate pair, which is no character"
        elif type(value) not in _PLAIN:
            return f"{path} is {_described(value)}"
    return ""


def _time(value: datetime) -> str:
    """As Kubernetes writes it. YAML says no zone where the text said UTC."""
    zoned = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    return zoned.isoformat().replace("+00:00", "Z")


def _described(value: object) -> str:
    return "nothing (None)" if value is None else f"of type {type(value).__name__}"
