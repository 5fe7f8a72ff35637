"""A plan written down, so that it can be had again exactly, and compared with the next one."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from muster.errors import InvalidObjectError
from muster.resolution.catalog.bundles import Entry
from muster.resolution.catalog.catalog import index_catalog
from muster.resolution.request import is_cluster
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from muster.resolution.request import Request
    from muster.resolution.resolve import Resolved

LOCK_VERSION = 1


class LockedOperator(msgspec.Struct, frozen=True, omit_defaults=True):
    """An operator of a lock; the digest is of its properties."""

    name: str
    package: str = ""
    version: str = ""
    channel: str = ""
    catalog: str = ""
    digest: str = ""
    installed: bool = False


class Lock(msgspec.Struct, frozen=True):
    """All operators of a plan, by package."""

    wants: list[str]
    operators: list[LockedOperator]
    lock_version: int = msgspec.field(default=LOCK_VERSION, name="lockVersion")

    def to_json(self) -> JsonObject:
        found: JsonObject = msgspec.to_builtins(self)
        return {"lockVersion": found.pop("lockVersion"), **found}


@dataclass(frozen=True, slots=True)
class LockChange:
    """What became of a package between two locks; empty text: it was not there, or is gone."""

    package: str
    before: str
    after: str

    def __str__(self) -> str:
        if not self.before:
            return f"+ {self.package} {self.after}"
        if not self.after:
            return f"- {self.package} {self.before}"
        return f"~ {self.package} {self.before} -> {self.after}"


def make_lock(outcome: Resolved) -> Lock:
    operators = []
    for number in outcome.solution.chosen:
        entry = outcome.problem.variables[number]
        if isinstance(entry, Entry) and not is_cluster(entry):
            operators.append(
                LockedOperator(
                    entry.name,
                    entry.package,
                    entry.bundle.version_text,
                    entry.channel,
                    "" if entry.installed else entry.catalog.name,
                    digest(entry),
                    entry.installed,
                )
            )
    wants = sorted(str(want) for want in outcome.problem.request.wants)
    return Lock(wants, sorted(operators, key=lambda each: (each.package, each.name)))


def digest(entry: Entry) -> str:
    return f"sha256:{hashlib.sha256(entry.bundle.text).hexdigest()}"


def read_lock(value: Json) -> Lock:
    """A lock from what a file says. Raises InvalidObjectError."""
    try:
        lock = msgspec.convert(value, Lock)
    except msgspec.ValidationError as error:
        raise InvalidObjectError("lock", str(error)) from error
    if lock.lock_version != LOCK_VERSION:
        raise InvalidObjectError("lock", f"lockVersion {lock.lock_version} is not known; this is {LOCK_VERSION}")
    return lock


def locked_request(request: Request, lock: Lock) -> Request:
    """The request with nothing to choose from but what the lock has. Raises InvalidObjectError if that has changed."""
    by_catalog: dict[str, list[Entry]] = {}
    kept = {locked.package for locked in lock.operators if locked.installed}  # stay without being wanted
    for locked in lock.operators:
        if locked.installed:
            continue
        found = [
            entry
            for catalog in request.catalogs
            if catalog.key.name == locked.catalog
            for number in catalog.by_package.get(locked.package, ())
            for entry in [catalog.entries[number]]
            if entry.name == locked.name and entry.channel == locked.channel
        ]
        if not found:
            raise InvalidObjectError(
                "lock", f"{locked.name} is no longer in channel {locked.channel} of {locked.catalog}"
            )
        if digest(found[0]) != locked.digest:
            raise InvalidObjectError("lock", f"{locked.name} has changed in {locked.catalog} since it was locked")
        by_catalog.setdefault(locked.catalog, []).append(found[0])
    return replace(
        request,
        catalogs=tuple(
            index_catalog(catalog.key, by_catalog.get(catalog.key.name, ()), priority=catalog.priority)
            for catalog in request.catalogs
        ),
        wants=tuple(replace(want, starting="") for want in request.wants if want.package not in kept),
    )


def lock_changes(before: Lock, after: Lock) -> list[LockChange]:
    """What differs, by package."""
    old = {each.package or each.name: _shown(each) for each in before.operators}
    new = {each.package or each.name: _shown(each) for each in after.operators}
    changed = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    return [LockChange(name, old.get(name, ""), new.get(name, "")) for name in changed]


def _shown(operator: LockedOperator) -> str:
    return f"{operator.name} ({operator.channel})" if operator.channel else operator.name
