"""Which names a definition gets, and the conditions that say so: within a group every name belongs to one kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from muster.hub.custom.definition import ESTABLISHED
from muster.values.json import Json, JsonObject
from muster.values.json_members import list_at

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.api.custom_resource_definition import DefinitionNames
    from muster.api.resource import Resource

NAMES_ACCEPTED: Final = "NamesAccepted"
TERMINATING: Final = "Terminating"


@dataclass
class NamesInUse:
    """The names that are in use in a group."""

    resources: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)

    def add_names(self, names: DefinitionNames) -> None:
        self.resources |= {names.plural, names.singular, *names.short_names}
        self.kinds |= {names.kind, names.list_kind}

    def add_builtin(self, resources: Iterable[Resource]) -> None:
        for each in resources:
            self.resources |= {each.plural, each.singular, *each.short_names}
            self.kinds |= {each.kind, each.list_kind}


def named(definition: JsonObject, taken: NamesInUse, now: str) -> JsonObject | None:
    """The status with the names that can be accepted; None when there is nothing to settle."""
    status = definition["status"]
    wanted, accepted = definition["spec"]["names"], status["acceptedNames"]
    if is_settled(wanted, accepted) and _condition(status, ESTABLISHED) is not None:
        return None
    names = dict(accepted)
    reason, message = "", ""
    for name, why, used in (
        ("plural", "PluralConflict", taken.resources),
        ("singular", "SingularConflict", taken.resources),
        ("shortNames", "ShortNamesConflict", taken.resources),
        ("kind", "KindConflict", taken.kinds),
        ("listKind", "ListKindConflict", taken.kinds),
    ):
        conflict = _conflict(wanted.get(name), accepted.get(name), used)
        if conflict:
            reason, message = why, conflict
        elif name in wanted:
            names[name] = wanted[name]
        else:
            names.pop(name, None)
    if wanted.get("categories"):
        names["categories"] = wanted["categories"]
    else:
        names.pop("categories", None)
    ok = not reason
    found = {**status, "acceptedNames": names}
    found = with_condition(
        found, NAMES_ACCEPTED, "True" if ok else "False", reason or "NoConflicts", message or "no conflicts found", now
    )
    established = _condition(found, ESTABLISHED)
    if established is None or established.get("status") != "True":
        if ok:
            text = "the initial names have been accepted"
            found = with_condition(found, ESTABLISHED, "True", "InitialNamesAccepted", text, now)
        elif established is None:
            found = with_condition(found, ESTABLISHED, "False", "NotAccepted", "not all names are accepted", now)
    return None if found == status else found


def is_settled(wanted: JsonObject, accepted: JsonObject) -> bool:
    """Whether a definition has the names that it wants."""
    return _comparable(wanted) == _comparable(accepted)


def _comparable(names: JsonObject) -> JsonObject:
    return {name: value for name, value in names.items() if value}


def _conflict(wanted: Json, accepted: Json, used: set[str]) -> str:
    if wanted == accepted:
        return ""
    if isinstance(wanted, list):
        mine = set(accepted or ())
        taken = [f'"{name}" is already in use' for name in wanted if name not in mine and name in used]
        return taken[0] if len(taken) == 1 else f"[{', '.join(taken)}]" if taken else ""
    return f'"{wanted}" is already in use' if wanted and wanted in used else ""


def _condition(status: JsonObject, kind: str) -> JsonObject | None:
    return next((each for each in list_at(status, "conditions") if each.get("type") == kind), None)


def with_condition(status: JsonObject, kind: str, value: str, reason: str, message: str, now: str) -> JsonObject:
    """A status with a condition set; its time is that of the last change of True or False."""
    conditions = [dict(each) for each in list_at(status, "conditions")]
    new = {"type": kind, "status": value, "lastTransitionTime": now, "reason": reason, "message": message}
    for index, each in enumerate(conditions):
        if each.get("type") == kind:
            since = each.get("lastTransitionTime") if each.get("status") == value else None
            conditions[index] = {**each, **new, "lastTransitionTime": since or now}
            break
    else:
        conditions.append(new)
    return {**status, "conditions": conditions}
