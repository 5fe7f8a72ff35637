"""Cluster set bindings, agent classifications, and the order in which checks are asked."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from msgspec import structs

from muster.admission import Finding, Refusal, World, Write, mutate, refused, validate
from muster.admission.kinds import KindChecks, Settings, kinds
from muster.api import RESOURCES
from tests.admission.writes import Nothing, a_write

if TYPE_CHECKING:
    from collections.abc import Mapping

AGENTS = "agent-install.openshift.io"


def check(write: Write, checks: Mapping[str, KindChecks] | None = None) -> Finding:
    return asyncio.run(validate(write, Nothing(), checks) if checks else validate(write, Nothing()))


def binding(name: str, cluster_set: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "apps"}, "spec": {"clusterSet": cluster_set}}


def test_a_binding_has_the_name_of_its_set() -> None:
    assert check(a_write("managedclustersetbindings", binding("a", "a"))) == Finding()
    text = "The ManagedClusterSetBinding must have the same name as the target ManagedClusterSet"
    wanted = Finding(refusal=Refusal(400, "BadRequest", text))
    assert check(a_write("managedclustersetbindings", binding("a", "b"))) == wanted
    assert check(a_write("managedclustersetbindings", binding("a", "b"), binding("a", "a"))) == wanted
    assert check(a_write("managedclustersetbindings", None, binding("a", "b"))) == Finding()


def classification(query: str) -> dict[str, Any]:
    spec = {"labelKey": "size", "labelValue": "xl", "query": query}
    return {"metadata": {"name": "xl", "namespace": "apps"}, "spec": spec}


def test_a_query_that_does_not_compile_is_stored_with_a_warning() -> None:
    assert check(a_write("agentclassifications", classification(".cpu.count == 16"), group=AGENTS)) == Finding()
    finding = check(a_write("agentclassifications", classification(".cpu["), group=AGENTS))
    assert finding.refusal is None
    assert finding.warnings[0].startswith("spec.query does not compile: ")
    same = classification(".cpu[")
    assert check(a_write("agentclassifications", same, same, group=AGENTS)) == Finding()


def test_kinds_without_checks_pass() -> None:
    assert mutate(a_write("unheardof", {"metadata": {"name": "x"}})) == Finding()
    assert check(a_write("unheardof", {"metadata": {"name": "x"}})) == Finding()


def test_every_checked_kind_is_one_we_serve() -> None:
    from muster.admission import KINDS

    assert set(KINDS) <= set(RESOURCES)


def test_mutations_build_on_each_other_until_one_refuses() -> None:
    def add(key: str) -> Any:
        def check(write: Write) -> Finding:
            return Finding({**(write.new or {}), key: True}, (f"added {key}",))

        return check

    write = a_write("things", {"metadata": {"name": "x"}})
    checks = {write.resource: KindChecks(mutating=(add("a"), add("b")))}
    assert mutate(write, checks) == Finding({"metadata": {"name": "x"}, "a": True, "b": True}, ("added a", "added b"))
    checks = {write.resource: KindChecks(mutating=(add("a"), lambda _: refused("no"), add("b")))}
    assert mutate(write, checks) == structs.replace(refused("no"), warnings=("added a",))


def test_a_check_may_ask_for_permissions_in_one_batch() -> None:
    class Strict(Nothing):
        async def missing(self, asker: Any, verb: str, resource: str, names: Any, namespace: str = "") -> list[str]:
            return [f"{asker.name} {verb} {resource} {name}" for name in names]

    async def joins(write: Write, world: World) -> Finding:
        found = await world.missing(write.asker, "create", "managedclustersets/join.x", ["a", "b"])
        return refused("; ".join(found), 403, "Forbidden") if found else Finding()

    write = a_write("things", {"metadata": {"name": "x"}})
    checks = {write.resource: KindChecks(inquiring=(joins,))}
    text = "alice create managedclustersets/join.x a; alice create managedclustersets/join.x b"
    assert asyncio.run(validate(write, Strict(), checks)) == refused(text, 403, "Forbidden")
    assert asyncio.run(validate(write, Nothing(), checks)) == Finding()


def test_a_query_that_does_not_compile_is_refused_where_the_administrator_says_so() -> None:
    strict = kinds(Settings(refuse_queries=True))
    finding = check(a_write("agentclassifications", classification(".cpu["), group=AGENTS), strict)
    assert finding.refusal is not None
    assert (finding.refusal.code, finding.refusal.causes[0].field) == (422, "spec.query")
