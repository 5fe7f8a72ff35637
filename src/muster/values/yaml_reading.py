"""YAML as plain values, read within limits: the one door from YAML text to values.

Request bodies, catalogs, files of the command line and kubeconfigs are read here, as Kubernetes reads YAML: dates are
text, `yes` is true, keys are text, no tag chooses a type. The C parser gives events, which it makes without recursion
and in linear time; the values are built from them on a list of our own. So depth, number of values and what aliases
stand for are known before anything is built from them, and no text can exhaust the stack.

It knows nothing of what the values mean. Whoever needs places rather than values (`cli/positions`) asks for `events`.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import yaml

from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator


_TAG: Final = "tag:yaml.org,2002:"
_MOST_DIRECTIVES: Final = 64  # the parser compares each %TAG with all before it
_MOST_REPEATED: Final = 100  # duplicate keys that are named
_LONGEST_NUMBER: Final = 400  # characters; far beyond any number, and Python would take its time
_DIRECTIVE: Final = re.compile(rb"(?:^|[\r\n]|\xc2\x85|\xe2\x80[\xa8\xa9])%TAG")


@dataclass(frozen=True, slots=True)
class YamlLimits:
    """How deep values may nest, how many there may be, and their size with every alias written out.

    The size counts the characters of scalars, and one for each value. `aliased` bounds what aliases alone stand for,
    where a text may have any number of values.
    """

    depth: int = 100
    values: int = 200_000
    size: int = 3 * 1024 * 1024
    aliased: int = 200_000


class YamlError(ValueError):
    """A text that cannot be read: what is wrong, and where; lines and columns count from 1, 0 is unknown."""

    def __init__(self, problem: str, line: int = 0, column: int = 0) -> None:
        self.problem = problem
        self.line = line
        self.column = column
        super().__init__(problem, line, column)

    def __str__(self) -> str:
        return f"line {self.line}: {self.problem}" if self.line else self.problem


class YamlLimitError(YamlError):
    """A text that could be read, and is more than the limits allow."""


@dataclass(frozen=True, slots=True)
class YamlDocument:
    """A document's value, the line at which it begins, and what a strict reader says of its duplicate keys."""

    value: Json
    line: int
    duplicates: tuple[str, ...] = ()


def read_yaml(text: bytes, limits: YamlLimits) -> YamlDocument | None:
    """The only document of a text; None if there is none. Raises YamlError."""
    found: YamlDocument | None = None
    for document in read_documents(text, limits):
        if found is not None:
            raise YamlError("expected a single document in the stream, but found another document", document.line)
        found = document
    return found


def read_documents(text: bytes, limits: YamlLimits) -> Iterator[YamlDocument]:
    """The documents of a text, one after the other. Raises YamlError."""
    builder = _Builder(limits)
    for event in events(text, limits):
        kind = event.__class__
        if kind is yaml.DocumentStartEvent:
            builder = _Builder(limits)
        elif kind is yaml.DocumentEndEvent:
            yield YamlDocument(builder.value, builder.line, builder.repeated_keys())
        elif kind is not yaml.StreamStartEvent and kind is not yaml.StreamEndEvent:
            builder.take(event)


def events(text: bytes, limits: YamlLimits) -> Iterator[yaml.Event]:
    """What the parser sees, as long as it is not too deep and not too much. Raises YamlError."""
    if text.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            text = text.decode("utf-16").encode()
        except UnicodeError as error:
            raise YamlError(f"not UTF-16: {error}") from None
    if text.count(b"%TAG") > _MOST_DIRECTIVES and len(_DIRECTIVE.findall(text)) > _MOST_DIRECTIVES:
        raise YamlLimitError(f"the text has more than {_MOST_DIRECTIVES} %TAG directives")
    depth = count = 0
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            kind = event.__class__
            if kind is yaml.ScalarEvent:
                count += 1
            elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
                count += 1
                depth += 1
                if depth > limits.depth:
                    raise too_deep(limits)
            elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
                depth -= 1
            if count > limits.values:
                raise _too_many(limits)
            yield event
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        problem = str(error.problem or error.context)
        raise (YamlError(problem) if mark is None else YamlError(problem, mark.line + 1, mark.column + 1)) from None
    except (yaml.YAMLError, UnicodeError) as error:
        raise YamlError(str(error).replace("\n", " ")) from None


def too_deep(limits: YamlLimits) -> YamlLimitError:
    return YamlLimitError(f"values nest deeper than {limits.depth} levels")


def _too_many(limits: YamlLimits) -> YamlLimitError:
    return YamlLimitError(f"the document has more than {limits.values} values once aliases are expanded")


def _too_large(limits: YamlLimits) -> YamlLimitError:
    return YamlLimitError(f"with its aliases written out the text has more than {limits.size} bytes")


# --- From events to values --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Anchored:
    """What an alias stands for, and how much that is."""

    value: Json
    is_text: bool
    height: int
    values: int
    size: int


class _Open:
    """A list or mapping whose end has not come."""

    __slots__ = ("anchor", "height", "is_merge", "key", "line", "merged", "size", "value", "values")

    def __init__(self, value: Json, anchor: str | None, line: int) -> None:
        self.value = value
        self.anchor = anchor
        self.line = line
        self.key: str | None = None  # of a mapping: the key whose value comes next
        self.is_merge = False  # the key is <<
        self.merged: JsonObject | None = None  # what came by <<
        self.height = 1
        self.values = 1
        self.size = 1


class _Builder:
    """Builds the value of one document from its events."""

    def __init__(self, limits: YamlLimits) -> None:
        self._limits = limits
        self._open: list[_Open] = []
        self._anchors: dict[str, _Anchored] = {}
        self._values = self._size = self._aliased = 0  # of all of the document, so far
        self._repeated: list[str] = []
        self._not_named = 0
        self.value: Json = None
        self.line = 0

    def take(self, event: yaml.Event) -> None:
        kind = event.__class__
        if not self._open and not self.line:
            self.line = _line(event)
        if kind is yaml.ScalarEvent:
            self._scalar(event)
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            self._begin(event)
        elif kind is yaml.AliasEvent:
            self._alias(event)
        else:
            self._end()

    def repeated_keys(self) -> tuple[str, ...]:
        if not self._repeated:
            return ()
        more = [f"and {self._not_named} more"] if self._not_named else []
        return ("\n  ".join(["yaml: unmarshal errors:", *self._repeated, *more]),)

    def _scalar(self, event: Json) -> None:
        text: str = event.value
        tag = _tag_of(event)
        if self._open and type(self._open[-1].value) is dict and self._open[-1].key is None:
            self._key(event, tag)
            return
        value = text if tag == "str" else _scalar(event, tag)
        self._charge(1, 1 + len(text))
        self._add(event, value, is_text=True, height=0, values=1, size=1 + len(text), anchor=event.anchor)

    def _key(self, event: Json, tag: str) -> None:
        outer = self._open[-1]
        if tag == "merge":
            outer.is_merge = True
            outer.key = "<<"
        else:
            outer.key = event.value if tag == "str" else _key_text(_scalar(event, tag))
        if outer.key in outer.value and not outer.is_merge:
            if len(self._repeated) < _MOST_REPEATED:
                self._repeated.append(f'line {_line(event)}: key "{shortened(outer.key)}" already set in map')
            else:
                self._not_named += 1
        outer.values += 1
        outer.size += 1 + len(event.value)
        self._charge(1, 1 + len(event.value))
        if event.anchor is not None:
            text = event.value
            value = text if tag in ("str", "merge") else _scalar(event, tag)
            self._anchors[event.anchor] = _Anchored(value, True, 0, 1, 1 + len(text))

    def _begin(self, event: Json) -> None:
        if self._open and type(self._open[-1].value) is dict and self._open[-1].key is None:
            raise YamlError("a key must be a scalar", _line(event))
        is_map = event.__class__ is yaml.MappingStartEvent
        wanted = "map" if is_map else "seq"
        if event.tag not in (None, "!", f"{_TAG}{wanted}"):
            raise _unknown_tag(event)
        self._charge(1, 1)
        self._open.append(_Open({} if is_map else [], event.anchor, _line(event)))

    def _end(self) -> None:
        done = self._open.pop()
        if done.merged:
            done.value = {**done.merged, **done.value}
        self._add(
            None,
            done.value,
            is_text=False,
            height=done.height,
            values=done.values,
            size=done.size,
            anchor=done.anchor,
            line=done.line,
        )

    def _alias(self, event: Json) -> None:
        name: str = event.anchor
        found = self._anchors.get(name)
        if any(each.anchor == name for each in self._open):
            raise YamlLimitError(f"a value contains itself through *{shortened(name)}", _line(event))
        if found is None:
            raise YamlError(f"found undefined alias {shortened(name)}", _line(event))
        if self._open and type(self._open[-1].value) is dict and self._open[-1].key is None:
            if not found.is_text:
                raise YamlError("a key must be a scalar", _line(event))
            outer = self._open[-1]
            self._charge(1, found.size)
            outer.key = _key_text(found.value)
            outer.values += 1
            outer.size += found.size
            return
        if len(self._open) + found.height > self._limits.depth:
            raise too_deep(self._limits)
        # Counted before it is copied: what an alias stands for is never built when it is too much.
        self._charge(found.values, found.size)
        self._aliased += found.values
        if self._aliased > self._limits.aliased:
            raise YamlLimitError(
                f"with its aliases written out the text has more than {self._limits.aliased} values by them alone"
            )
        value = found.value if found.is_text else _copied(found.value)
        self._add(
            event,
            value,
            is_text=found.is_text,
            height=found.height,
            values=found.values,
            size=found.size,
            anchor=None,
        )

    def _add(
        self,
        event: Json,
        value: Json,
        *,
        is_text: bool,
        height: int,
        values: int,
        size: int,
        anchor: str | None,
        line: int = 0,
    ) -> None:
        """A value is complete: it is the document's, or belongs into what is open."""
        if anchor is not None:
            self._anchors[anchor] = _Anchored(value, is_text, height, values, size)
        if not self._open:
            self.value = value
            return
        outer = self._open[-1]
        outer.values += values
        outer.size += size
        if height >= outer.height:
            outer.height = height + 1
        if type(outer.value) is list:
            outer.value.append(value)
        elif outer.is_merge:
            self._merge(outer, value, line or _line(event))
            outer.key, outer.is_merge = None, False
        else:
            outer.value[outer.key] = value
            outer.key = None

    def _merge(self, outer: _Open, value: Json, line: int) -> None:
        sources = value if type(value) is list else [value]
        merged = outer.merged = outer.merged or {}
        for source in sources:
            if type(source) is not dict:
                raise YamlError("map merge requires map or sequence of maps as the value", line)
            for key, item in source.items():
                merged.setdefault(key, item)

    def _charge(self, values: int, size: int) -> None:
        """Count what is about to be built. The whole document counts: containers that are open add up."""
        self._values += values
        self._size += size
        if self._values > self._limits.values:
            raise _too_many(self._limits)
        if self._size > self._limits.size:
            raise _too_large(self._limits)


def _copied(value: Json) -> Json:
    """What an alias stands for, for itself. No deeper than the limit, so this may recurse."""
    if type(value) is dict:
        return {key: _copied(item) for key, item in value.items()}
    if type(value) is list:
        return [_copied(item) for item in value]
    return value


def _line(event: Json) -> int:
    mark = event.start_mark
    return 1 if mark is None else int(mark.line) + 1


def shortened(text: str) -> str:
    return text if len(text) <= 100 else f"{text[:100]}…"


# --- Scalars ----------------------------------------------------------------------------------------------------

_BOOL: Final = re.compile(r"(?:y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF)")
_NULL: Final = re.compile(r"(?:~|null|Null|NULL|)")
_INT: Final = re.compile(r"(?:[-+]?0b[0-1_]+|[-+]?0o?[0-7_]+|[-+]?(?:0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+)")
_FLOAT: Final = re.compile(
    r"(?:[-+]?(?:[0-9][0-9_]*)\.[0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?[0-9][0-9_]*[eE][-+]?[0-9]+"
    r"|\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))"
)
_NUMBERS: Final = (("int", _INT), ("float", _FLOAT))
_FORMS: Final = {
    **dict.fromkeys("yYtTfFoO", (("bool", _BOOL),)),
    **dict.fromkeys("nN", (("bool", _BOOL), ("null", _NULL))),
    **dict.fromkeys("-+0123456789", _NUMBERS),
    ".": (("float", _FLOAT),),
    "~": (("null", _NULL),),
    "<": (("merge", re.compile("<<")),),
}


def _tag_of(event: Json) -> str:
    """What a scalar is: by its tag, or by its form if it is plain."""
    if event.tag is not None and event.tag != "!":
        return str(event.tag).removeprefix(_TAG)
    text = event.value
    if not event.implicit[0]:
        return "str"
    if not text:
        return "null"
    for tag, form in _FORMS.get(text[0], ()):
        if form.fullmatch(text):
            return tag
    return "str"


def _scalar(event: Json, tag: str) -> Json:
    text: str = event.value
    match tag:
        case "str" | "merge":
            return text
        case "null":
            return None
        case "bool":
            return text.lower() in ("y", "yes", "true", "on")
        case "int" | "float":
            if len(text) > _LONGEST_NUMBER:
                raise YamlError(f"number too long: {text[:20]}…", _line(event))
            try:
                return _integer(text) if tag == "int" else _float(text)
            except (ValueError, OverflowError) as error:
                problem = "out of range" if isinstance(error, OverflowError) else str(error)
                raise YamlError(f"{shortened(text)} is not a JSON number: {problem}", _line(event)) from None
        case _:
            raise _unknown_tag(event)


def _integer(text: str) -> int | float:
    digits = text.replace("_", "")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("+-")
    if digits.lower().startswith(("0b", "0x", "0o")):
        value = int(digits, 0)
    elif len(digits) > 1 and digits.startswith("0"):
        value = int(digits, 8)
    else:
        value = int(digits)
    value *= sign
    return value if -(1 << 63) <= value < 1 << 63 else float(value)


def _float(text: str) -> int | float:
    cleaned = text.replace("_", "").lower()
    if cleaned.endswith(("inf", "nan")):
        raise ValueError("JSON has no such value")
    value = float(cleaned)
    if value in (float("inf"), float("-inf")):
        raise OverflowError
    # A Go server stores 1.0 as 1, and so does whoever reads it back.
    return int(value) if value.is_integer() and abs(value) < 1 << 53 else value


def _key_text(value: Json) -> str:
    """A key as text: `true: 1` has the key "true"."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return "null" if value is None else str(value)


def _unknown_tag(event: Json) -> YamlError:
    return YamlError(f"cannot read a value with the tag {shortened(event.tag)}", _line(event))
