"""The requirements of bundles, read in the dialect of a resolution. What cannot be read is a value here."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import msgspec

from muster.resolution.constraints.forms import EmptyConstraintError, InvalidConstraintError, Requirement
from muster.resolution.constraints.spellings import read_requirement
from muster.resolution.constraints.upstream_spelling import read_upstream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.resolution.catalog.bundles import Bundle
    from muster.resolution.catalog.properties import Property
    from muster.resolution.constraints.matching import Matcher

Read: TypeAlias = Requirement | InvalidConstraintError | None


class RequirementReader:
    """Reads one resolution's requirements, each text once."""

    def __init__(self, matcher: Matcher, *, upstream: bool) -> None:
        self._matcher = matcher
        self._upstream = upstream
        self._known: dict[tuple[int, bytes], Read] = {}

    def of(self, bundle: Bundle) -> Iterator[Requirement | InvalidConstraintError]:
        """What the bundle requires, or why that cannot be read, one after the other."""
        for place, prop in bundle.requirements:
            result = self._read_one(prop, place)
            if self._upstream:
                result = self._converted(result)
            if result is not None:
                yield result

    def _converted(self, result: Read) -> Read:
        """Upstream's second step: rules are compiled and ranges read, up to the first fault."""
        legacy = isinstance(result, Requirement) and result.origin.syntax == "legacy"
        constraints = result.before if isinstance(result, EmptyConstraintError) else ()
        if isinstance(result, Requirement):
            constraints = (result.constraint,)
        try:
            for constraint in constraints:
                self._matcher.check(constraint)
        except InvalidConstraintError as error:
            where = "" if legacy else "convert olm.constraint to resolver predicate: "
            return InvalidConstraintError(error.path, f"{where}{error.reason}")
        return result

    def _read_one(self, prop: Property, place: int) -> Read:
        """Bundles of one package mostly say the same, so what was read is kept."""
        key = (place, msgspec.json.encode(prop))
        if key in self._known:
            return self._known[key]
        result: Read
        try:
            result = (read_upstream if self._upstream else read_requirement)(prop, place)
        except InvalidConstraintError as error:
            result = error
        self._known[key] = result
        return result
