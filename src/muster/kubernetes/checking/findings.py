"""What a check has found, as values: `inspection` makes them, the command prints them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muster.kubernetes.checking.definitions import Lacks
    from muster.values.json import JsonObject


class Place(StrEnum):
    """Where a rule is enforced."""

    DEFINITION = "definition"
    POLICY = "policy"
    WEBHOOK = "webhook"
    UPSTREAM = "Open Cluster Management"
    NOWHERE = "nowhere"
    UNSEEN = "could not be read"


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind on the server."""

    name: str
    owner: str  # "us", whoever else, nothing where it is not served
    served: bool
    needed: bool  # without it our Pods have nothing to do
    lacks: Lacks
    noticed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Enforced:
    """One rule on the server."""

    rule: str
    places: tuple[Place, ...]
    guards: bool  # it is about permissions
    note: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of the installation: whether it is as it should be, and the words."""

    name: str
    well: bool
    words: str


@dataclass(frozen=True, slots=True)
class Inspection:
    """Everything."""

    server: str
    namespace: str
    version: str  # of what is installed; nothing where nothing is, or where we may not look
    installer: str
    remedy: str  # what brings the kinds that are missing, or all of it
    parts: list[Part] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    rules: list[Enforced] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)  # what we were not allowed to read

    @property
    def is_installed(self) -> bool:
        return bool(self.version)

    @property
    def is_hidden(self) -> bool:
        """Whether we may not look whether something is installed."""
        return not self.version and any(each.startswith(("ConfigMap ", "Deployment ")) for each in self.unseen)

    def problems(self) -> list[str]:
        """What somebody should do something about."""
        if not self.is_installed and not self.is_hidden:
            return [f"Muster is not installed in {self.namespace}: {self.remedy}"]
        found = [f"{part.name}: {part.words}" for part in self.parts if not part.well]
        gone = [kind.name for kind in self.kinds if kind.needed and not kind.served]
        found += [f"kinds that are not served: {', '.join(gone)}; {self.remedy}"] if gone else []
        found += [f"nobody sees to it that {each.rule}: {each.note}" for each in self._unguarded(guards=True)]
        return found

    def noticed(self) -> list[str]:
        """What a user would notice beside the problems, each thing once. Nobody notices much of what is not there."""
        found: list[str] = []
        if not self.is_installed and not self.is_hidden:
            return found
        for kind in self.kinds:
            if not kind.served and not kind.needed:
                found.append(f"{kind.name}: there is no such kind, nothing is done about it")
            found += [f"{kind.name}: {each}" for each in kind.noticed]
        found += [f"nobody sees to it that {each.rule}: {each.note}" for each in self._unguarded(guards=False)]
        return list(dict.fromkeys(found))

    def _unguarded(self, *, guards: bool) -> list[Enforced]:
        return [each for each in self.rules if each.places == (Place.NOWHERE,) and each.guards is guards]

    def plain(self) -> JsonObject:
        """For machines."""
        return {
            "server": self.server,
            "namespace": self.namespace,
            "installed": {"version": self.version, "by": self.installer} if self.is_installed else None,
            "parts": [{"name": each.name, "well": each.well, "words": each.words} for each in self.parts],
            "kinds": [_plain_kind(each) for each in self.kinds],
            "rules": [
                {"rule": each.rule, "enforced": [place.value for place in each.places], "note": each.note}
                for each in self.rules
            ],
            "problems": self.problems(),
            "noticed": self.noticed(),
            "unseen": list(self.unseen),
        }


def _plain_kind(kind: Kind) -> JsonObject:
    missing = kind.lacks
    return {
        "name": kind.name,
        "served": kind.served,
        "owner": kind.owner,
        "lacks": {
            "fields": list(missing.fields),
            "versions": list(missing.versions),
            "columns": list(missing.columns),
            "rules": list(missing.rules),
            "status": missing.status,
        },
    }
