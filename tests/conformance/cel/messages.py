"""What a case needs of protobuf: well-known types are part of the language, messages of others are not in Muster."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

from muster.cel.values import Duration, Timestamp, Uint
from muster.values.times import parse_time
from tests.conformance.cel.calls import words
from tests.conformance.suites import keys

if TYPE_CHECKING:
    from collections.abc import Mapping

MESSAGES = "protobuf messages of others"
WELL_KNOWN = frozenset(
    f"google.protobuf.{name}"
    for name in keys(
        "Any BoolValue BytesValue DoubleValue Duration FloatValue Int32Value Int64Value ListValue NullValue StringValue"
        " Struct Timestamp UInt32Value UInt64Value Value"
    )
)
_FOREIGN_NAMES = re.compile(r"\b(?:google\.(?:api\.)?expr|cel\.expr\.conformance|cel\.testdata|testdata)\.")
_LITERAL = re.compile(r"([A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*)\s*\{")
_PACKED = re.compile(r"\btype_url\s*:\s*['\"]([^'\"]*)")  # what is in an Any
# What can stand before an opening brace and names no message of others: a map follows, or an error does.
_NO_MESSAGES = keys("in true false null bool bytes double dyn int list map null_type string type uint")


class NotRepresentedError(Exception):
    """A value that needs what Muster does not have: messages of others."""


def is_well_known(name: str, container: str = "") -> bool:
    """Whether a name, as it is written in a container, is that of a well-known type."""
    bare = name.lstrip(".")
    return bare in WELL_KNOWN or (container == "google.protobuf" and f"{container}.{bare}" in WELL_KNOWN)


def needs_messages(expression: str, container: str, declared: Mapping[str, str], values: Any) -> bool:
    """Whether an expression makes, names or is given a message that is not well known.

    `declared` are variables with their types as text. A name with a capital that nobody declares is a message or an
    enumeration; so is whatever stands before an opening brace.
    """
    texts = [each for each in declared.values() if _names_a_message(each)]
    packed = [url.rpartition("/")[2] for url in _PACKED.findall(expression)]
    if texts or _foreign_value(values) or not all(map(is_well_known, packed)):
        return True
    for each in words(expression):
        first = each.partition(".")[0]
        if _FOREIGN_NAMES.match(f"{each}.") or (
            any(part[:1].isupper() for part in each.split("."))
            and first not in declared
            and not is_well_known(each, container)
            and container
        ):
            return True
    return any(not is_well_known(name, container) and name not in declared for name in literal_names(expression))


def literal_names(expression: str) -> list[str]:
    """The names that stand before an opening brace, outside of texts and comments."""
    bare = re.sub(r"//[^\n]*|[rRbB]{0,2}(\"\"\"|'''|\"|')(?:\\.|(?!\1).)*\1", " ", expression, flags=re.DOTALL)
    found = [re.sub(r"\s+", "", each) for each in _LITERAL.findall(bare)]
    return [each for each in found if each not in _NO_MESSAGES]


def _names_a_message(text: str) -> bool:
    """Whether a type, as cel-go writes it, has a message in it that is not well known."""
    names = re.findall(r"[A-Za-z_][\w.@]*", text)
    return any("." in name and not is_well_known(name) and _FOREIGN_NAMES.match(f"{name}.") for name in names)


def _foreign_value(value: Any) -> bool:
    if isinstance(value, dict):
        about = value.get("object")
        if isinstance(about, dict) and "type" in about:
            return not is_well_known(about["type"]) or _foreign_value(about.get("json"))
        if "message" in value and isinstance(value["message"], str):
            return not is_well_known(value["message"])
        if "enum" in value:
            return True
        kind = value.get("@type")
        if isinstance(kind, str) and not is_well_known(kind.rpartition("/")[2]):
            return True
        return any(map(_foreign_value, value.values()))
    return isinstance(value, list) and any(map(_foreign_value, value))


def well_known_value(kind: str, value: Any) -> Any:
    """What a well-known message means in CEL, from its JSON form."""
    match kind.rpartition("/")[2].removeprefix("google.protobuf."):
        case "Any":
            return well_known_value(value["@type"], value.get("value")) if value and "@type" in value else None
        case "BoolValue" | "StringValue":
            return value
        case "BytesValue":
            return base64.b64decode(value)
        case "Int32Value" | "Int64Value":
            return int(value)
        case "UInt32Value" | "UInt64Value":
            return Uint(int(value))
        case "FloatValue" | "DoubleValue":
            return float(value)
        case "Value" | "Struct" | "ListValue" | "NullValue":
            return _json_value(value)
        case "Duration":
            return Duration(round(float(value.removesuffix("s")) * 10**9))
        case "Timestamp":
            moment: Any = parse_time(value)
            return Timestamp(int(moment.timestamp()) * 10**9)
        case other:
            raise NotRepresentedError(other)


def _json_value(value: Any) -> Any:
    """JSON as google.protobuf.Value has it: every number is a double."""
    if isinstance(value, dict):
        return {key: _json_value(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_json_value(each) for each in value]
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
