"""Requirements as the Operator Lifecycle Manager reads them, for its compatibility mode.

Narrower than ours in what it takes (one spelling, no message but failureMessage) and wider in what it lets pass
(trailing text, empty lists, several kinds). Error texts are those of the shipped program, which is Go's JSON decoder.
"""

from __future__ import annotations

import json
from typing import Final

import msgspec

from muster.cel.libraries.json_text import InvalidJsonError, parse_json
from muster.resolution.catalog.properties import CONSTRAINT, Api, Property, folded
from muster.resolution.constraints import forms as c
from muster.resolution.constraints.forms import EmptyConstraintError, InvalidConstraintError, Origin, Requirement
from muster.resolution.constraints.spellings import MOST_BYTES
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.quoting import go_quote

_NOTHING: Final[JsonMapping] = {}
_UNEXPECTED_END: Final = "unexpected end of JSON input"
_NEVER: Final = "\x01"  # stands nowhere in JSON
_FIELDS: Final = {
    "Constraint": {
        "failureMessage": "string",
        "cel": "Cel",
        "package": "PackageConstraint",
        "gvk": "GVKConstraint",
        "all": "CompoundConstraint",
        "any": "CompoundConstraint",
        "not": "CompoundConstraint",
    },
    "Cel": {"rule": "string"},
    "PackageConstraint": {"packageName": "string", "versionRange": "string"},
    "GVKConstraint": {"group": "string", "version": "string", "kind": "string"},
    "CompoundConstraint": {"constraints": "[]Constraint"},
}


class _Unfit(Exception):  # noqa: N818 - never leaves this module
    """What Go's decoder or the converter says."""


_COMPOUNDS: Final = (("all", c.AllConstraint), ("any", c.AnyConstraint), ("not", c.NotConstraint))


def read_upstream(prop: Property, index: int = 0) -> Requirement | None:
    """The requirement of a property, None if upstream ignores it. Raises InvalidConstraintError in its words."""
    if prop.type == CONSTRAINT:
        constraint, syntax = parse_upstream(prop), "shipped"
    elif prop.type in _LEGACY:
        constraint, syntax = _legacy(prop), "legacy"
    else:
        return None
    return Requirement(constraint, origin=Origin(index, syntax))


def parse_upstream(prop: Property) -> c.Constraint:
    """A value of olm.constraint."""
    size = len(msgspec.json.encode(prop.value) if prop.unreadable is None else prop.unreadable.encode())
    if size > MOST_BYTES:
        raise InvalidConstraintError(
            "", f"parse olm.constraint: olm.constraint value is greater than max constraint size {MOST_BYTES} bytes"
        )
    try:
        checked = _struct("Constraint", _first_value(prop))
    except _Unfit as error:
        raise InvalidConstraintError("", f"parse olm.constraint: {error}") from None
    before: list[c.Constraint] = []
    try:
        return _converted(checked, before)
    except _Unfit as error:
        reason = f"convert olm.constraint to resolver predicate: {error}"
        raise EmptyConstraintError(reason, tuple(before)) from None


def _first_value(prop: Property) -> Json:
    """Only the first JSON value is read; what follows it is ignored."""
    if prop.unreadable is None:
        return prop.value
    try:
        value, _ = json.JSONDecoder().raw_decode(prop.unreadable.lstrip())
    except (ValueError, RecursionError):
        raise _Unfit(_go_syntax_error(prop.unreadable)) from None
    return value


def _go_syntax_error(text: str) -> str:
    """What Go's decoder of streams says: where the text ends too early, that it ends."""
    if not text.strip():
        return "EOF"
    error = _whole_error(text)
    # A fault at the end is another one when something follows that stands nowhere in JSON.
    return error if error and error == _whole_error(text + _NEVER) else "unexpected EOF"


def _whole_error(text: str) -> str:
    """What Go's decoder of whole texts says; empty if it reads the text."""
    try:
        parse_json(text)
    except InvalidJsonError as error:
        return str(error)
    return ""


def _struct(
    name: str, value: Json, owner: str = "", path: tuple[str, ...] = (), before: JsonMapping = _NOTHING
) -> JsonObject:
    """A mapping checked against a Go struct: keys in any case, unknown ones refused.

    Of two keys that differ by case Go reads the later one into what the earlier one left: texts are replaced, mappings
    and lists are filled in member by member, null empties everything but a text. Go names the struct that has the field
    at fault, and the whole path to the field.
    """
    result = dict(before)
    if value is None:
        return result
    if not isinstance(value, dict):
        raise _unfit(value, f"constraints.{name}", owner, path)
    fields = _FIELDS[name]
    names = {field.lower(): field for field in fields}
    for key, item in value.items():
        field = names.get(folded(key))
        if field is None:
            raise _Unfit(f"json: unknown field {go_quote(key)}")
        place = (*path, field)
        match fields[field]:
            case "string":
                if item is not None:
                    if not isinstance(item, str):
                        raise _unfit(item, "string", name, place)
                    result[field] = item
            case _ if item is None:
                result.pop(field, None)
            case "[]Constraint":
                if not isinstance(item, list):
                    raise _unfit(item, "[]constraints.Constraint", name, place)
                known = result.get(field, [])
                result[field] = [
                    _struct("Constraint", member, name, place, known[at] if at < len(known) else _NOTHING)
                    for at, member in enumerate(item)
                ]
            case nested:
                result[field] = _struct(nested, item, name, place, result.get(field, _NOTHING))
    return result


def _unfit(value: Json, wanted: str, owner: str, path: tuple[str, ...]) -> _Unfit:
    where = f"Go struct field {owner}.{'.'.join(path)}" if path else "Go value"
    return _Unfit(f"json: cannot unmarshal {_go_kind(value)} into {where} of type {wanted}")


def _converted(fields: JsonObject, before: list[c.Constraint]) -> c.Constraint:
    """The first kind in upstream's order counts. What is converted on the way is noted."""
    message = fields.get("failureMessage")
    for name, kind in _COMPOUNDS:
        if name in fields and not {"gvk", "package"} & fields.keys():
            members = fields[name].get("constraints", ())
            return kind(tuple(_converted(each, before) for each in members), message)
    if not fields.keys() & {"gvk", "package", "cel"}:
        raise _Unfit("constraint is empty")
    before.append(_simple(fields, message))
    return before[-1]


def _simple(fields: JsonObject, message: str | None) -> c.Constraint:
    if "gvk" in fields:
        gvk = fields["gvk"]
        api = Api(gvk.get("group", ""), gvk.get("version", ""), gvk.get("kind", ""))
        return c.ApiConstraint(api, message)
    if "package" in fields:
        package = fields["package"]
        return c.PackageConstraint(package.get("packageName", ""), package.get("versionRange", ""), message)
    return c.CelConstraint(fields["cel"].get("rule", ""), message)


_LEGACY: Final = {
    "olm.gvk.required": ("group", "version", "kind"),
    "olm.package.required": ("packageName", "versionRange"),
    "olm.label.required": ("label",),
}


def _legacy(prop: Property) -> c.Constraint:
    names = _LEGACY[prop.type]
    if prop.unreadable is not None:
        raise InvalidConstraintError("", _unmarshal_error(prop.unreadable))
    value = prop.value
    if value is not None and not isinstance(value, dict):
        struct = "; ".join(f'{name[0].upper()}{name[1:]} string "json:\\"{name}\\""' for name in names)
        raise InvalidConstraintError(
            "", f"json: cannot unmarshal {_go_kind(value)} into Go value of type struct {{ {struct} }}"
        )
    found = dict.fromkeys(names, "")
    known = {name.lower(): name for name in names}
    # In their order: the first that does not fit is told, the last text counts.
    for key, item in value.items() if value is not None else ():
        name = known.get(folded(key), "")
        if not name or item is None:
            continue
        if not isinstance(item, str):
            raise InvalidConstraintError(
                "", f"json: cannot unmarshal {_go_kind(item)} into Go struct field .{name} of type string"
            )
        found[name] = item
    texts = list(found.values())
    match prop.type:
        case "olm.gvk.required":
            return c.ApiConstraint(Api(*texts))
        case "olm.package.required":
            return c.PackageConstraint(*texts)
        case _:
            return c.LabelConstraint(*texts)


def _unmarshal_error(text: str) -> str:
    """The decoder of whole texts tries a space after the end; a text of nothing else just ends."""
    return _whole_error(text) if text.strip() else _UNEXPECTED_END


def _go_kind(value: Json) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case list():
            return "array"
        case dict():
            return "object"
        case None:
            return "null"
        case _:
            return "number"
