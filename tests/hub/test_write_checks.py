"""Which admission plugins are asked about which kind."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.api import RESOURCES
from muster.hub import advice
from muster.hub.auth import account_secrets
from muster.hub.auth.rbac import escalation
from muster.hub.custom import guarding
from muster.hub.joining import limits
from muster.hub.requests import Admitted, Concerned, Target
from muster.hub.signing import admission
from muster.hub.write_checks import PluginsByKind

if TYPE_CHECKING:
    from muster.hub.requests import AdmissionRequest


@dataclass
class Everywhere:
    name: str

    async def mutate(self, request: AdmissionRequest) -> Admitted:
        return Admitted()


@dataclass
class Choosy(Everywhere):
    kinds: frozenset[str]


def a_target(key: str) -> Target:
    resource = RESOURCES[key]
    return Target(resource, resource.storage_version)


def test_who_names_kinds_is_asked_about_those_only_and_in_order() -> None:
    first, secrets, last = Everywhere("first"), Choosy("secrets", frozenset({"secrets"})), Everywhere("last")
    plugins = PluginsByKind([first, secrets, last])
    assert [plugin.name for plugin in plugins.of(a_target("secrets"))] == ["first", "secrets", "last"]
    assert [plugin.name for plugin in plugins.of(a_target("leases.coordination.k8s.io"))] == ["first", "last"]


def test_who_names_no_kinds_is_asked_about_all() -> None:
    plugins = PluginsByKind([Everywhere("one")])
    assert all(len(plugins.of(a_target(key))) == 1 for key in RESOURCES)


def test_every_plugin_that_names_kinds_names_kinds_that_there_are() -> None:
    """A key with a slip in it would be a guard that nobody asks."""
    choosy = (
        account_secrets.AccountSecrets,
        admission.RequestAdmission,
        advice.FleetAdvice,
        escalation.EscalationGuard,
        guarding.DefinitionGuard,
        limits.AgentLimits,
    )
    for plugin in choosy:
        assert plugin.kinds
        assert plugin.kinds <= set(RESOURCES)
        assert isinstance(plugin.__new__(plugin), Concerned)
        assert inspect.iscoroutinefunction(plugin.mutate)
