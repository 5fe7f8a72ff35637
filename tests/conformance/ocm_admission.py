"""Who may accept, join, bind and create: what OCM's webhooks answered, and what the exclusive-key proposal says.

OCM's own rows go through AdmissionReviews, first the mutating answer and then the validating one, as a Kubernetes API
server would ask. The proposal's rows are written to a hub with roles and everything.
"""

from __future__ import annotations

import asyncio
import base64
from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster.admission import validate
from muster.admission.review import mutated, validated, write_of
from muster.clustersets.pairs import NAME, NAMESPACE
from muster.hub.patches.json_patch import json_patched
from muster.hub.status import StatusError
from muster.selectors.membership import DEFAULT_SET
from muster.values.names import subdomain_problems
from tests.builders import a_time
from tests.conformance.results import CaseResult
from tests.hub.a_guarded_hub import REGISTER, a_guarded_hub, rule
from tests.hub.a_hub import CLUSTERS, SETS, config_map, namespace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muster.admission import Asker
    from tests.hub.a_guarded_hub import GuardedHub

Object = dict[str, Any]
GROUP: Final = "cluster.open-cluster-management.io"
NOW: Final = a_time("2026-01-01T00:00:00Z")
_RESOURCES: Final = {
    "ManagedCluster": ("managedclusters", "v1"),
    "ManagedClusterSetBinding": ("managedclustersetbindings", "v1beta2"),
}
_TAINT_TIMES: Final = "The server sets the time of a taint"
_BIND: Final = "a binding's permission is named with its group"
_ALL_AT_ONCE: Final = "all missing permissions are named"


# --- What OCM's webhooks answered -----------------------------------------------------------------------------


class _Permissions:
    """A world with a namespace and permissions, which remembers what it was asked."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self._terminating = case.get("terminatingNamespace")
        self._name = (case.get("new") or case["old"])["metadata"]["name"]
        self._allowed = {
            (each["verb"], _address(each["resource"], each["subresource"], each["group"]), each["name"])
            for each in case.get("allow") or ()
        }
        self.asked: list[str] = []

    async def get(self, resource: str, namespace: str, name: str) -> Object | None:
        if resource == "namespaces" and self._terminating and name == self._name:
            return {"metadata": {"name": name}, "status": {"phase": "Terminating"}}
        return None

    async def list(self, resource: str, namespace: str | None = None) -> Sequence[Object]:
        return ()

    async def labelled(self, resource: str, key: str, value: str) -> Sequence[str]:
        return ()

    async def missing(
        self, asker: Asker, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> Sequence[str]:
        path, _, group = resource.partition(".")
        self.asked += [f"{verb} {group}/{path} {name}" for name in names]
        return [name for name in names if not {(verb, resource, name), (verb, resource, "*")} & self._allowed]


def _address(resource: str, subresource: str, group: str) -> str:
    return f"{resource}{'/' if subresource else ''}{subresource}.{group}"


def run_admission(data: Any) -> Iterator[CaseResult]:
    for case in data:
        yield _reviewed(case)


def _reviewed(case: Mapping[str, Any]) -> CaseResult:
    expect = case["expect"]
    world = _Permissions(case)
    stage, new, status = _answered(case, world)
    found = {
        "allowed": status is None,
        "stage": None if status is None else stage,
        "reason": None if status is None else status["reason"],
    }
    wanted = {name: expect.get(name) for name in found}
    message = "" if status is None else status["message"]
    if expect.get("reason") == "BadRequest" and _taints_differ(case):
        return _timed_by_rule(case, new, found)
    if stage == "validating":
        for field, ours in (
            ("mutatedLabels", new["metadata"].get("labels")),
            ("mutatedTaints", (new.get("spec") or {}).get("taints")),
        ):
            if expect.get(field) is not None:
                found[field], wanted[field] = ours, expect[field]
    rule_name, differences = _asked(expect, world.asked, refused=status is not None)
    if found != wanted:
        differences.append(f"{found} instead of {wanted}: {message}")
    if not differences and "bind.apps" in (expect.get("error") or ""):
        right = expect["error"].replace("bind.apps", f"bind.{GROUP}")
        return CaseResult(case["id"], ok=message.startswith(right), rule=_BIND, detail=message)
    text_ok = None if expect["allowed"] else message.startswith(expect["error"])
    return CaseResult(
        case["id"], ok=not differences, rule=rule_name, text_ok=text_ok, detail="; ".join(differences) or message
    )


def _answered(case: Mapping[str, Any], world: _Permissions) -> tuple[str, Object, Object | None]:
    """The stage that was reached, the object as it was then, and the refusal if there was one."""
    plural, version = _RESOURCES[case["kind"]]
    new: Object | None = case.get("new")
    named = new or case["old"]
    review: Object = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": case["id"],
            "resource": {"group": GROUP, "version": version, "resource": plural},
            "operation": case["operation"],
            "name": named["metadata"]["name"],
            "namespace": named["metadata"].get("namespace", ""),
            "userInfo": {"username": case["user"]},
            "object": new,
            "oldObject": case.get("old"),
        },
    }
    answer = mutated(review, NOW)["response"]
    if not answer["allowed"]:
        return "mutating", named, answer["status"]
    if new is not None and "patch" in answer:
        named = new = json_patched(new, msgspec.json.decode(base64.b64decode(answer["patch"])))
        review["request"]["object"] = new
    if subdomain_problems(named["metadata"]["name"]):
        # The recorded hooks were asked directly; no server lets such a name come that far, nor do the kinds' own rules.
        refusal = asyncio.run(validate(write_of(review, NOW)[1], world)).refusal
        status = None if refusal is None else {"reason": refusal.reason, "message": refusal.message}
        return "validating", named, status
    answer = asyncio.run(validated(review, world, NOW))["response"]
    return "validating", named, answer.get("status")


def _asked(expect: Mapping[str, Any], asked: list[str], *, refused: bool) -> tuple[str | None, list[str]]:
    """OCM stops at the first permission that is missing; we ask for all, in the same order."""
    wanted = expect.get("accessReviews") or []
    if asked == wanted:
        return None, []
    if refused and asked[: len(wanted)] == wanted and wanted:
        return _ALL_AT_ONCE, []
    return None, [f"asked for {asked} instead of {wanted}"]


def _taints_differ(case: Mapping[str, Any]) -> bool:
    return case["operation"] == "UPDATE" and "TimeAdded" in (case["expect"].get("error") or "")


def _timed_by_rule(case: Mapping[str, Any], new: Object, found: Mapping[str, Any]) -> CaseResult:
    """A taint as it was stored keeps its time, sent with it or without it; any other time is refused."""
    stored = {_identity(each): each.get("timeAdded") for each in reversed(_taints(case["old"]))}
    forged = [
        each["key"]
        for each in _taints(case["new"])
        if each.get("timeAdded") is not None and each["timeAdded"] != stored.get(_identity(each))
    ]
    if forged:
        same = not found["allowed"] and found["stage"] == "mutating" and found["reason"] == "BadRequest"
        return CaseResult(case["id"], ok=same, detail=f"forged times of {forged} were not refused")
    kept = all(each["timeAdded"] == stored.get(_identity(each), each["timeAdded"]) for each in _taints(new))
    return CaseResult(case["id"], ok=bool(found["allowed"]) and kept, rule=_TAINT_TIMES, detail=str(found))


def _taints(obj: Object) -> list[Object]:
    return (obj.get("spec") or {}).get("taints") or []


def _identity(taint: Mapping[str, Any]) -> tuple[str, ...]:
    return taint["key"], taint.get("value") or "", taint["effect"]


# --- What the proposal says ------------------------------------------------------------------------------------

PROPOSED: Final = ("admission-cluster-label", "admission-set")


def run_proposed(case: Mapping[str, Any]) -> CaseResult:
    """One write by a user with certain rules, to a hub that holds the other objects of the row."""
    message = asyncio.run(_proposed(case))
    expect = case["expect"]
    allowed = message is None
    text_ok = None if allowed or "errorContains" not in expect else expect["errorContains"] in (message or "")
    return CaseResult(case["id"], ok=allowed == expect["allowed"], text_ok=text_ok, detail=str(message))


async def _proposed(case: Mapping[str, Any]) -> str | None:
    """Why the write was refused; None if it was not."""
    async with a_guarded_hub() as hub:
        rules = [
            rule(each["verb"], each["resource"], *filter(None, [each.get("resourceName")]), group=each["group"])
            for each in case["rules"]
        ]
        # What OCM's own rows are about is granted: to accept a cluster, and to let a new one begin in the set default.
        rules.append(rule("update", "managedclusters/accept", group=REGISTER))
        if case["operation"] == "CREATE":
            rules.append(rule("create", "managedclustersets/join", DEFAULT_SET))
        user = await hub.grant(case["user"], *rules)
        await _fill(hub, case)
        resource = CLUSTERS if case["kind"] == "admission-cluster-label" else SETS
        try:
            match case["operation"]:
                case "CREATE":
                    await hub.create(case["new"], user)
                case "UPDATE":
                    name = case["new"]["metadata"]["name"]
                    stored = (await hub.get(resource, name))["metadata"]
                    revision = {"resourceVersion": stored["resourceVersion"]}
                    sent = {**case["new"], "metadata": {**case["new"]["metadata"], **revision}}
                    await hub.update(sent, user=user)
                case _:
                    await hub.delete(resource, case["old"]["metadata"]["name"], user=user)
        except StatusError as error:
            return error.message
    return None


async def _fill(hub: GuardedHub, case: Mapping[str, Any]) -> None:
    present: dict[tuple[str, str], Object] = {}
    for obj in (*case.get("clusterSets", ()), *case.get("clusters", ()), *filter(None, [case.get("old")])):
        present[obj["kind"], obj["metadata"]["name"]] = obj
    for obj in present.values():
        await hub.create(obj)
    if case.get("configMap"):
        await hub.create(namespace(NAMESPACE))
        await hub.create(config_map(NAME, NAMESPACE, **case["configMap"]))
