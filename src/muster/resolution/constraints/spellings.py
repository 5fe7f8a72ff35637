"""Every way a requirement has ever been spelled, read into the normal form.

There are five: the specification's (evaluator, rule, message, action), its alternative (`CEL` or `propertyEquals` with
an action), its short one (type olm.constraint.cel), the one that was shipped (failureMessage and cel, gvk, package,
all, any, not), and the older olm.*.required properties with their twins in dependencies.yaml. Keys are taken in any
case, as Go does. The Operator Lifecycle Manager's own, narrower reading is in `upstream_spelling.py`.
"""

from __future__ import annotations

import difflib
import json
from typing import TYPE_CHECKING, Final

import msgspec

from muster.reasons import Code, Parameter, Reason
from muster.resolution.catalog.dependencies import from_dependency
from muster.resolution.catalog.properties import (
    CEL_CONSTRAINT,
    CONSTRAINT,
    Api,
    Property,
    folded,
)
from muster.resolution.constraints import forms as c
from muster.resolution.constraints.forms import InvalidConstraintError, Origin, Requirement, Warned
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


MOST_BYTES: Final = 131_072  # what the shipped code takes; its documentation says half of that
DOCUMENTED_BYTES: Final = 65_536
MOST_LEVELS: Final = 32
DOCUMENTED_LEVELS: Final = 10

# More than one kind in a constraint: the first of these counts, as in the shipped code.
KINDS: Final = ("gvk", "package", "all", "any", "not", "cel", "label", "propertyEquals")
_TOP_FIELDS: Final = (*KINDS, "failureMessage", "message", "none", "CEL", "evaluator", "rule", "action")
_LEGACY_KEYS: Final = frozenset({"group", "version", "kind", "label", "packagename", "versionrange"})
_NESTED: Final[Mapping[str, type[c.AllConstraint | c.AnyConstraint | c.NotConstraint]]] = {
    "all": c.AllConstraint,
    "any": c.AnyConstraint,
    "not": c.NotConstraint,
}


def read_requirement(prop: Property, index: int = 0) -> Requirement | None:
    """The requirement a property states; None if it states none. Raises InvalidConstraintError."""
    try:
        return _requirement(prop, index)
    except InvalidConstraintError as error:
        raise InvalidConstraintError(as_written(prop, error.path), error.reason) from None


def as_written(prop: Property, pointer: str) -> str:
    """A pointer whose keys are spelled as in the property: we take them in any case, pointers are exact."""
    head, value_key, rest = pointer.partition("/value")
    written, value = [], prop.value
    for name in rest.split("/")[1:]:
        key = name
        if isinstance(value, dict):
            key = name if name in value else next((key for key in value if key.lower() == name.lower()), name)
            value = value.get(key)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            value = None
        written.append(key)
    return "/".join((head + value_key, *written))


def _requirement(prop: Property, index: int) -> Requirement | None:
    reading = _Reading()
    pointer = f"/properties/{index}/value"
    match prop.type:
        case "olm.constraint":
            value = _json_value(prop, pointer)
            constraint, optional, syntax = reading.generic(value, pointer)
        case "olm.constraint.cel":
            value = _json_value(prop, pointer)
            constraint, optional, syntax = reading.short(value, pointer), False, "short"
        case "olm.gvk.required" | "olm.package.required" | "olm.label.required":
            constraint = _legacy(prop.type, _json_value(prop, pointer), pointer)
            optional, syntax = False, "legacy"
        case _:
            return None
    return Requirement(constraint, optional, Origin(index, syntax), tuple(reading.warnings))


def meaningless(prop: Property) -> Reason | None:
    """A warning about a property that looks like a constraint and is none; None for all others."""
    if prop.type.startswith(f"{CONSTRAINT}.") and prop.type != CEL_CONSTRAINT:
        return Reason(Code.CONSTRAINT_MEANINGLESS, parameters={"property": prop.type})
    return None


def read_any_spelling(prop: Property, index: int = 0) -> Requirement | None:
    """The same, and the types of dependencies.yaml as well."""
    dependency = from_dependency(prop)
    return read_requirement(prop if dependency is None else dependency, index)


def _json_value(prop: Property, pointer: str) -> Json:
    """The value, within the limit of bytes. Text that is no JSON says where it stops being so."""
    if prop.unreadable is None:
        size = len(msgspec.json.encode(prop.value))
        value = prop.value
    else:
        size = len(prop.unreadable.encode())
        value = None
    if size > MOST_BYTES:
        raise InvalidConstraintError(
            pointer, f"{prop.type} value is greater than max constraint size {MOST_BYTES} bytes ({size})"
        )
    if prop.unreadable is not None:
        raise InvalidConstraintError(pointer, _why_unreadable(prop.unreadable))
    return value


def _why_unreadable(text: str) -> str:
    try:
        _, end = json.JSONDecoder().raw_decode(text.lstrip())
    except ValueError as error:
        return f"not valid JSON: {error}"
    except RecursionError:
        return "not valid JSON: nested too deeply"
    return f"trailing data after the JSON value: {text.lstrip()[end:].strip()[:40]!r}"


def _legacy(kind: str, value: Json, pointer: str) -> c.Constraint:
    """The older properties: unknown fields have no meaning there and are ignored, as upstream does."""
    if not isinstance(value, dict):
        raise InvalidConstraintError(pointer, f"{kind} takes a mapping, this is {_kind_of(value)}")
    fields = _folded(value, pointer)

    def text(name: str) -> str:
        found = fields.get(name.lower())
        if found is not None and not isinstance(found, str):
            raise InvalidConstraintError(f"{pointer}/{name}", f"{name} is a text, this is {_kind_of(found)}")
        return found if found is not None else ""

    match kind:
        case "olm.gvk.required":
            return c.ApiConstraint(Api(text("group"), text("version"), text("kind")))
        case "olm.label.required":
            return c.LabelConstraint(text("label"))
        case _:
            wanted = text("versionRange")
            if not wanted:
                hint = ", not version" if "version" in fields else ""
                raise InvalidConstraintError(pointer, f"{kind} needs a versionRange{hint}")
            return c.PackageConstraint(text("packageName"), wanted)


class _Reading:
    """One constraint being read; collects what deserves a warning."""

    def __init__(self) -> None:
        self.warnings: list[Warned] = []

    def warn(self, pointer: str, code: Code, **parameters: Parameter) -> None:
        self.warnings.append(Warned(pointer, Reason(code, parameters=parameters)))

    def generic(self, value: Json, pointer: str) -> tuple[c.Constraint, bool, str]:
        size = len(msgspec.json.encode(value))
        if size > DOCUMENTED_BYTES:
            limits = {"documented": DOCUMENTED_BYTES, "most": MOST_BYTES}
            self.warn(pointer, Code.CONSTRAINT_LARGE, bytes=size, **limits)
        fields = self._fields(value, pointer, _TOP_FIELDS)
        optional = self._action(fields, pointer)
        syntax = "specification" if "evaluator" in fields or "rule" in fields else "shipped"
        if syntax == "shipped" and {"message", "action", "propertyEquals"} & fields.keys():
            syntax = "alternative"
        return self._constraint(fields, pointer, 1), optional, syntax

    def short(self, value: Json, pointer: str) -> c.Constraint:
        """olm.constraint.cel: a rule and a message, nothing else."""
        fields = self._fields(value, pointer, ("rule", "message", "failureMessage"))
        message = self._synonym(fields, pointer, "failureMessage", "message")
        return c.CelConstraint(self._text(fields, "rule", pointer, required=True), self._message(message, pointer))

    def _fields(self, value: Json, pointer: str, known: Iterable[str]) -> JsonObject:
        """The mapping with its keys in the known spelling, without nulls. Unknown keys are refused."""
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise InvalidConstraintError(pointer, f"a mapping was expected, this is {_kind_of(value)}")
        by_lower: dict[str, str] = {}
        for name in known:
            by_lower.setdefault(name.lower(), name)
        exact = set(known)
        fields: JsonObject = {}
        written: dict[str, str] = {}
        for key, item in value.items():
            lower = folded(key)
            if lower not in by_lower:
                close = difflib.get_close_matches(lower, list(by_lower), n=1, cutoff=0.6)
                hint = f"; did you mean {by_lower[close[0]]}?" if close else f"; known: {', '.join(sorted(exact))}"
                escaped = str(key).replace("~", "~0").replace("/", "~1")
                raise InvalidConstraintError(f"{pointer}/{escaped}", f"unknown field {key!r}{hint}")
            found = by_lower[lower]
            if found in fields:
                raise _twice(pointer, written[found], str(key))
            if key not in exact:
                self.warn(f"{pointer}/{key}", Code.FIELD_SPELLING, field=found, written=str(key))
            fields[found], written[found] = item, str(key)
        return {name: item for name, item in fields.items() if item is not None}

    def _constraint(self, fields: JsonObject, pointer: str, level: int) -> c.Constraint:
        if level > MOST_LEVELS:
            raise InvalidConstraintError(pointer, f"constraints are nested more than {MOST_LEVELS} levels deep")
        if level == DOCUMENTED_LEVELS + 1:
            self.warn(pointer, Code.CONSTRAINT_DEEP, documented=DOCUMENTED_LEVELS)
        message = self._message(self._synonym(fields, pointer, "failureMessage", "message"), pointer)
        rule = self._rule(fields, pointer)
        negated = self._synonym(fields, pointer, "not", "none")
        contents: JsonObject = {name: fields[name] for name in KINDS if name in fields}
        if negated is not None:
            contents["not"] = negated
        if rule is not None:
            contents["cel"] = rule
        given = [name for name in KINDS if name in contents]
        if not given:
            raise InvalidConstraintError(pointer, "the constraint is empty: it has none of " + ", ".join(KINDS))
        if len(given) > 1:
            self.warn(pointer, Code.SEVERAL_KINDS, kinds=tuple(given))
        return self._kind(given[0], contents[given[0]], message, pointer, level)

    def _rule(self, fields: JsonObject, pointer: str) -> str | None:
        """The CEL rule: below `cel`, or beside an evaluator."""
        rules: dict[str, str] = {}
        if "cel" in fields:
            inner = self._fields(fields["cel"], f"{pointer}/cel", ("rule", "action"))
            rules["cel.rule"] = self._text(inner, "rule", f"{pointer}/cel", required=True)
        if "evaluator" in fields:
            evaluator = self._fields_of_evaluator(fields["evaluator"], f"{pointer}/evaluator")
            if evaluator != "cel":
                raise InvalidConstraintError(
                    f"{pointer}/evaluator/id", f"unknown evaluator {evaluator!r}: only cel is supported"
                )
            if "rule" not in fields:
                raise InvalidConstraintError(pointer, "an evaluator needs a rule")
        if "rule" in fields:
            rules["rule"] = self._text(fields, "rule", pointer, required=True)
        if len(set(rules.values())) > 1:
            raise InvalidConstraintError(pointer, "rule and cel.rule differ: say it once")
        return next(iter(rules.values()), None)

    def _fields_of_evaluator(self, value: Json, pointer: str) -> str:
        written = next((key for key in value if key.lower() == "id"), "") if isinstance(value, dict) else ""
        if not written or not isinstance(value[written], str):
            raise InvalidConstraintError(pointer, "an evaluator is a mapping with an id, such as {id: cel}")
        again = next((key for key in value if key != written and folded(key) == "id"), None)
        if again is not None:
            raise _twice(pointer, written, again)
        if value[written] == "cel" and len(value) > 1:
            extra = ", ".join(sorted(key for key in value if key != written))
            raise InvalidConstraintError(pointer, f"the evaluator cel takes no more than its id, not {extra}")
        if written != "id":
            self.warn(f"{pointer}/{written}", Code.FIELD_SPELLING, field="id", written=written)
        return str(value[written])

    def _action(self, fields: JsonObject, pointer: str) -> bool:
        """Whether the requirement is optional."""
        inner = None
        if isinstance(fields.get("cel"), dict):
            inner = next((item for key, item in fields["cel"].items() if key.lower() == "action"), None)
        outer = fields.get("action")
        if inner is not None and inner != "require":
            raise InvalidConstraintError(f"{pointer}/cel/action", f"unknown action {inner!r}: only require is known")
        if outer is None:
            return False
        action = self._fields(outer, f"{pointer}/action", ("id", "optional"))
        name = self._text(action, "id", f"{pointer}/action", required=True)
        if name != "require":
            raise InvalidConstraintError(f"{pointer}/action/id", f"unknown action {name!r}: only require is known")
        optional = action.get("optional", False)
        if not isinstance(optional, bool):
            raise InvalidConstraintError(f"{pointer}/action/optional", "optional is true or false")
        return optional

    def _kind(self, kind: str, value: Json, message: str | None, pointer: str, level: int) -> c.Constraint:
        place = f"{pointer}/{kind}"
        match kind:
            case "cel":
                return c.CelConstraint(value, message)
            case "gvk":
                fields = self._fields(value, place, ("group", "version", "kind"))
                api = Api(*(self._text(fields, name, place) for name in ("group", "version", "kind")))
                return c.ApiConstraint(api, message)
            case "package":
                fields = self._fields(value, place, ("packageName", "name", "versionRange"))
                name = self._synonym(fields, place, "packageName", "name")
                if not isinstance(name, str) or not name:
                    raise InvalidConstraintError(place, "a package constraint needs a packageName")
                return c.PackageConstraint(name, self._text(fields, "versionRange", place, required=True), message)
            case "label":
                fields = self._fields(value, place, ("label",))
                return c.LabelConstraint(self._text(fields, "label", place, required=True), message)
            case "propertyEquals":
                return self._property_equals(value, message, place)
            case _:
                return _NESTED[kind](self._members(value, place, level, kind), message)

    def _property_equals(self, value: Json, message: str | None, place: str) -> c.Constraint:
        fields = self._fields(value, place, ("name", "value"))
        name = self._text(fields, "name", place, required=True)
        written = next((key for key in value if key.lower() == "value"), None)  # a null counts here
        if written is None:
            raise InvalidConstraintError(place, "value is missing")
        return c.PropertyConstraint(name, c.value_text(value[written]), message)

    def _members(self, value: Json, place: str, level: int, kind: str) -> tuple[c.Constraint, ...]:
        fields = self._fields(value, place, ("constraints",))
        members = fields.get("constraints", [])
        if not isinstance(members, list):
            raise InvalidConstraintError(f"{place}/constraints", f"a list was expected, this is {_kind_of(members)}")
        if not members:
            self.warn(place, Code.EMPTY_LIST, kind=kind)
        return tuple(
            self._member(member, f"{place}/constraints/{number}", level) for number, member in enumerate(members)
        )

    def _member(self, member: Json, place: str, level: int) -> c.Constraint:
        fields = self._fields(member, place, _TOP_FIELDS)
        if "action" in fields:
            raise InvalidConstraintError(f"{place}/action", "an action is not taken in a nested constraint")
        return self._constraint(fields, place, level + 1)

    def _synonym(self, fields: JsonMapping, pointer: str, first: str, second: str) -> Json:
        """The value under either name; both are taken if they say the same."""
        if first in fields and second in fields and fields[first] != fields[second]:
            raise InvalidConstraintError(pointer, f"{second} and {first} differ: say it once")
        return fields.get(first, fields.get(second))

    def _message(self, message: Json, pointer: str) -> str | None:
        if message is not None and not isinstance(message, str):
            raise InvalidConstraintError(pointer, f"a message is a text, this is {_kind_of(message)}")
        return message

    def _text(self, fields: JsonMapping, name: str, pointer: str, *, required: bool = False) -> str:
        value = fields.get(name)
        if value is None or value == "":
            if required:
                raise InvalidConstraintError(pointer, f"{name} is missing")
            return ""
        if not isinstance(value, str):
            raise InvalidConstraintError(f"{pointer}/{name}", f"{name} is a text, this is {_kind_of(value)}")
        return value


def _folded(value: JsonObject, pointer: str) -> JsonObject:
    """Keys in lower case. Keys that mean nothing may be there as often as they like."""
    fields: JsonObject = {}
    written: dict[str, str] = {}
    for key, item in value.items():
        lower = folded(key)
        if lower in written and lower in _LEGACY_KEYS:
            raise _twice(pointer, written[lower], key)
        fields[lower], written[lower] = item, str(key)
    return fields


def _twice(pointer: str, first: str, second: str) -> InvalidConstraintError:
    reason = f"{first!r} and {second!r} are one key twice, in different case: keep one"
    return InvalidConstraintError(f"{pointer}/{second}", reason)


def _kind_of(value: Json) -> str:
    names = {dict: "a mapping", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
