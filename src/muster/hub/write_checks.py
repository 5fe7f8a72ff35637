"""What every write passes: authorization before, admission and validation on the way. Shared by the writing verbs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from muster.api.metadata import name_of
from muster.api.validation import judged_object
from muster.hub import status
from muster.hub.requests import AdmissionRequest, Adviser, Attributes, Concerned
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.hub.requests import Admission, Admitted, Authorizer, Body, Target, User
    from muster.hub.storage import Guard


@dataclass(frozen=True, slots=True)
class AdmissionOutcome:
    """What admission left behind: warnings for the client, and what must still hold when the write commits."""

    warnings: tuple[str, ...] = ()
    guards: tuple[Guard, ...] = ()

    def and_also(self, admitted: Admitted) -> AdmissionOutcome:
        if not admitted.warnings and not admitted.read:
            return self  # as nearly always
        return AdmissionOutcome(self.warnings + admitted.warnings, self.guards + admitted.read)


_NOTHING = AdmissionOutcome()
Plugin = TypeVar("Plugin")


async def require(authorizer: Authorizer, user: User, attributes: Attributes) -> None:
    """Raises 403 unless the user may."""
    decision = await authorizer.authorize(user, attributes)
    if not decision.allowed:
        raise status.forbidden(user, attributes, decision.reason)


class PluginsByKind(Generic[Plugin]):
    """Plugins in order, of which each is asked about the kinds that it looks at: of most kinds there is one."""

    def __init__(self, plugins: Sequence[Plugin]) -> None:
        self._general = tuple(plugin for plugin in plugins if not isinstance(plugin, Concerned))
        named = {key for plugin in plugins if isinstance(plugin, Concerned) for key in plugin.kinds}
        self._by_kind = {
            key: tuple(plugin for plugin in plugins if not isinstance(plugin, Concerned) or key in plugin.kinds)
            for key in named
        }

    def of(self, target: Target) -> tuple[Plugin, ...]:
        return self._by_kind.get(target.resource.key, self._general)


class WriteChecks:
    """The authorizer and the admission plugins, asked in order."""

    def __init__(self, authorizer: Authorizer, admission: Sequence[Admission]) -> None:
        self._authorizer = authorizer
        self._admission = PluginsByKind(admission)
        self._advisers = PluginsByKind([plugin for plugin in admission if isinstance(plugin, Adviser)])

    async def authorize(self, user: User, verb: str, target: Target, name: str | None = None) -> None:
        """Raises 403 unless the user may."""
        refusal = await self.refusal(user, verb, target, name)
        if refusal is not None:
            raise refusal

    async def refusal(
        self, user: User, verb: str, target: Target, name: str | None = None
    ) -> status.StatusError | None:
        """Why the user may not; None if it may."""
        attributes = attributes_of(verb, target, name)
        decision = await self._authorizer.authorize(user, attributes)
        return None if decision.allowed else status.forbidden(user, attributes, decision.reason)

    async def authorize_create(self, user: User, target: Target, body: Body, *, names: bool) -> None:
        """Raises 403 unless the user may create this.

        A real server asks before it knows the name, so a role with resourceNames never allows a create. With `names`
        the name in the body counts; who may create nothing of the kind gets the same answer as ever. A body is not
        read for that, only looked at as far as it is cheap: whoever was refused has no claim to more.
        """
        refusal = await self.refusal(user, "create", target)
        if refusal is None:
            return
        name = body.name() if names else ""
        if not name or await self.refusal(user, "create", target, name) is not None:
            raise refusal

    async def mutated(
        self,
        operation: str,
        target: Target,
        user: User,
        old: JsonObject | None,
        new: JsonObject,
        *,
        dry_run: bool,
        weight: int = 0,
    ) -> tuple[JsonObject, AdmissionOutcome]:
        """The object as admission plugins change it, one after the other."""
        passed = _NOTHING
        request = AdmissionRequest(operation, target, user, old, new, dry_run, weight)
        for plugin in self._admission.of(target):
            admitted = await plugin.mutate(request)
            if admitted.object is not None:
                new = admitted.object
                request = AdmissionRequest(operation, target, user, old, new, dry_run, weight)
            passed = passed.and_also(admitted)
        return new, passed

    async def validated(
        self,
        operation: str,
        target: Target,
        user: User,
        old: JsonObject | None,
        new: JsonObject | None,
        *,
        dry_run: bool,
        weight: int = 0,
    ) -> AdmissionOutcome:
        """Let admission plugins refuse."""
        passed = _NOTHING
        request = AdmissionRequest(operation, target, user, old, new, dry_run, weight)
        for plugin in self._admission.of(target):
            passed = passed.and_also(await plugin.validate(request))
        return passed

    async def advice(
        self, operation: str, target: Target, user: User, old: JsonObject | None, new: JsonObject, *, dry_run: bool
    ) -> tuple[str, ...]:
        """Warnings about a write that has been carried out, or would have been."""
        advisers = self._advisers.of(target)
        if not advisers:
            return ()
        request = AdmissionRequest(operation, target, user, old, new, dry_run)
        return tuple([text for adviser in advisers for text in await adviser.advise(request)])


def attributes_of(verb: str, target: Target, name: str | None = None) -> Attributes:
    """What a role must allow. A namespace is in itself: who may read in it may read it."""
    resource = target.resource
    namespace = target.name if resource.plural == "namespaces" and not resource.group else target.namespace
    return Attributes(
        verb,
        resource.group,
        target.version.name,
        resource.plural,
        target.subresource,
        namespace,
        target.name if name is None else name,
    )


def refuse_invalid(target: Target, new: JsonObject, old: JsonObject | None = None) -> tuple[str, ...]:
    """Raises 422 with everything the schema and the kind's rules find. Returns warnings."""
    resource = target.resource
    found = judged_object(resource, target.version, new, old, target.subresource)
    if found.causes:
        error = status.invalid(resource.group, resource.kind, name_of(new), found.causes)
        error.warnings = found.warnings
        raise error
    return found.warnings
