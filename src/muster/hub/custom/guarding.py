"""What may happen to definitions beyond what they say: those of the hub's own kinds stay, and there are limits.

An admission plugin of the hub. Applying a definition of a kind that the hub brings changes its labels and annotations
only, so that whoever installs such kinds with their programs succeeds; a warning says what is served.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.codec import encode
from muster.api.crds import GROUP, KEY, PLURAL
from muster.api.custom_resource_definition import read_definition
from muster.api.metadata import name_of
from muster.hub import status
from muster.hub.requests import Admitted
from muster.values.json import Json, JsonObject
from muster.values.limits import Unit, named, shown

if TYPE_CHECKING:
    from muster.hub.custom.live import Kinds
    from muster.hub.limits import ObjectLimits
    from muster.hub.requests import AdmissionRequest
    from muster.hub.storage import Store

_NOTHING: Final = Admitted()


class DefinitionGuard:
    """Guards definitions."""

    kinds = frozenset({KEY})

    def __init__(self, store: Store, kinds: Kinds, limits: ObjectLimits) -> None:
        self._store = store
        self._kinds = kinds
        self._limits = limits

    async def mutate(self, request: AdmissionRequest) -> Admitted:
        """Definitions of the hub's own kinds keep what they say."""
        old, new = request.old, request.new
        if request.target.resource.key != KEY or old is None or new is None or not self._is_own(request):
            return _NOTHING
        warnings = self._warnings(request.target.name, new)
        kept = {**new, "spec": old.get("spec"), "status": old.get("status")}
        return Admitted(kept, warnings)

    async def validate(self, request: AdmissionRequest) -> Admitted:
        if request.target.resource.key != KEY:
            return _NOTHING
        if request.operation == "DELETE":
            if self._is_own(request):
                sentence = "the hub serves this kind itself: its definition cannot be deleted"
                raise status.refused(GROUP, PLURAL, request.target.name, sentence)
            return _NOTHING
        if request.new is not None:
            self._check_size(request.new)
            if request.operation == "CREATE":
                self._check_number(request.new)
                self._check_own(request.new)
        return _NOTHING

    def _is_own(self, request: AdmissionRequest) -> bool:
        return self._kinds.is_own(request.target.name)

    def _warnings(self, name: str, new: JsonObject) -> tuple[str, ...]:
        own = self._kinds[name]
        served = [version.name for version in own.versions if version.served]
        wanted = [each.name for each in read_definition(new).spec.versions if each.served]
        text = f"{name}: the hub serves this kind itself, in {', '.join(served)}; its definition stays as it is"
        missing = [each for each in wanted if each not in served]
        return (f"{text}; {', '.join(missing)} not served" if missing else text,)

    def _check_own(self, new: JsonObject) -> None:
        """A definition of a kind that every Kubernetes server has would never be asked."""
        name = name_of(new)
        if self._kinds.is_own(name) and self._kinds[name].builtin:
            sentence = "the hub serves this kind itself: it cannot be defined"
            raise status.refused(GROUP, PLURAL, name, sentence)

    def _check_number(self, new: JsonObject) -> None:
        own = sum(not each.builtin and not each.custom for each in self._kinds.values())
        if self._store.count(KEY) - own >= self._limits.custom_kinds:
            name = name_of(new)
            sentence = (
                f"the hub has {self._limits.custom_kinds} custom kinds and takes no more ({named('custom kinds')})"
            )
            raise status.refused(GROUP, PLURAL, name, sentence)

    def _check_size(self, new: JsonObject) -> None:
        size = _size(new.get("spec"))
        most = self._limits.definition_bytes
        if size > most:
            text = f"Request entity too large: the definition has {size} bytes, more than {shown(most, Unit.BYTES)}"
            raise status.StatusError(413, "RequestEntityTooLarge", f"{text} ({named('definition bytes')})")


def _size(spec: Json) -> int:
    return len(encode({"spec": spec}))
