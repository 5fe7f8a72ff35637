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
from muster.selectors.membership import DEFAULT_KEY, DEFAULT_SET
from muster.values.names import subdomain_problems
from tests.builders import a_time
from tests.conformance.suites import PLAIN, Kind, Rule, Suite, Verdict, by, keys
from tests.hub.a_guarded_hub import REGISTER, a_guarded_hub, rule
from tests.hub.a_hub import CLUSTERS, SETS, config_map, namespace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.admission import Asker
    from tests.hub.a_guarded_hub import GuardedHub

Object = dict[str, Any]
GROUP: Final = "cluster.open-cluster-management.io"
NOW: Final = a_time("2026-01-01T00:00:00Z")
_RESOURCES: Final = {
    "ManagedCluster": ("managedclusters", "v1"),
    "ManagedClusterSetBinding": ("managedclustersetbindings", "v1beta2"),
}
TAINT_TIMES: Final = "The server sets the time of a taint"
BIND: Final = "a binding's permission is named with its group"
ALL_AT_ONCE: Final = "all missing permissions are named"


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


def run(case: Mapping[str, Any]) -> dict[str, Any]:
    """What our webhooks answer, and what they asked for on the way."""
    world = _Permissions(case)
    stage, new, status = _answered(case, world)
    sentence, _, rest = ("" if status is None else status["message"]).partition("\nmissing permissions:\n")
    return {
        "allowed": status is None,
        "stage": None if status is None else stage,
        "reason": None if status is None else status["reason"],
        "error": sentence,
        "missing": [each.strip().partition(" (")[0] for each in rest.partition("\nrules of ")[0].splitlines()],
        "granting": [line for line in rest.partition("that grants them:\n")[2].splitlines() if "resourceNames" in line],
        "accessReviews": world.asked,
        "mutatedLabels": new["metadata"].get("labels"),
        "mutatedTaints": (new.get("spec") or {}).get("taints"),
    }


def classify(case: Mapping[str, Any]) -> Kind:
    expect = case["expect"]
    if _is_about_times(case) and not forged(case):
        return Rule(TAINT_TIMES)
    if "bind.apps" in (expect.get("error") or ""):
        return Rule(BIND)
    return Rule(ALL_AT_ONCE) if _reviews(case) != (expect.get("accessReviews") or []) else PLAIN


def wanted(case: Mapping[str, Any], kind: Kind) -> dict[str, Any]:
    """Every field: as recorded, and all permissions that are needed and missing."""
    recorded = {name: case["expect"].get(name) for name in ("allowed", "stage", "reason")}
    recorded["error"] = (case["expect"].get("error") or "").replace("bind.apps", f"bind.{GROUP}")
    if kind == Rule(TAINT_TIMES):
        labels = {DEFAULT_KEY: DEFAULT_SET} | (case["new"]["metadata"].get("labels") or {})
        recorded = {"allowed": True, "stage": None, "reason": None, "error": ""}
        recorded |= {"mutatedLabels": labels, "mutatedTaints": _timed(case)}
    missing = [] if recorded["allowed"] or recorded["reason"] != "Forbidden" else _missing(case)
    found = {
        "mutatedLabels": case["expect"].get("mutatedLabels"),
        "mutatedTaints": case["expect"].get("mutatedTaints"),
        **recorded,
        "accessReviews": _reviews(case) if kind != Rule(TAINT_TIMES) else needed(case),
        "missing": missing,
    }
    sent = case.get("new") or case["old"]
    if found["mutatedLabels"] is None:  # not recorded: as they were sent
        found["mutatedLabels"] = sent["metadata"].get("labels")
    if found["mutatedTaints"] is None:
        found["mutatedTaints"] = (sent.get("spec") or {}).get("taints")
    return found


def judge(case: Mapping[str, Any], kind: Kind, ours: dict[str, Any]) -> Verdict:
    expected = wanted(case, kind)
    recorded = case["expect"].get("accessReviews") or []
    differences = [
        f"{name}: {ours[name]!r} instead of {value!r}"
        for name, value in expected.items()
        if ours[name] != value and name != "error"
    ]
    if expected["accessReviews"][: len(recorded)] != recorded:
        differences.append(f"upstream asks for {recorded}, which is not how {expected['accessReviews']} begins")
    names = {each.rpartition(" ")[2] for each in expected["missing"]}
    if len(ours["granting"]) < bool(names) or any(name not in "".join(ours["granting"]) for name in names):
        differences.append(f"the rules that grant {expected['missing']} are {ours['granting']}")
    same = ours["error"] == expected["error"]
    if not same and isinstance(kind, Rule):
        differences.append(f"error: {ours['error']!r} instead of {expected['error']!r}")
    text_ok = None if case["expect"]["allowed"] or isinstance(kind, Rule) else same
    return Verdict(tuple(differences), text_ok, remarks="" if same else f"error {ours['error']!r}")


def needed(case: Mapping[str, Any]) -> list[str]:
    """The permissions that a change takes: to accept a cluster, to leave its set, to enter another; to bind a set."""
    new, old = case.get("new") or {}, case.get("old") or {}
    name = (new or old)["metadata"]["name"]
    if case["kind"] == "ManagedClusterSetBinding":
        return [f"create {GROUP}/managedclustersets/bind {name}"] if case["operation"] == "CREATE" else []
    found = []
    accepted = [bool((each.get("spec") or {}).get("hubAcceptsClient")) for each in (old, new)]
    if accepted[1] and not accepted[0]:
        found.append(f"update {REGISTER}/managedclusters/accept {name}")
    was = ((old.get("metadata") or {}).get("labels") or {}).get(DEFAULT_KEY)
    becomes = (new["metadata"].get("labels") or {}).get(DEFAULT_KEY) or DEFAULT_SET
    if was != becomes:
        found += [f"create {GROUP}/managedclustersets/join {each}" for each in (was, becomes) if each]
    return found


def _reviews(case: Mapping[str, Any]) -> list[str]:
    """All that are needed; a request that is bad whoever makes it is not asked about."""
    is_bad = case["expect"].get("reason") == "BadRequest"
    return list(case["expect"].get("accessReviews") or []) if is_bad else needed(case)


def _missing(case: Mapping[str, Any]) -> list[str]:
    """Needed and not allowed, as the refusal names them."""
    allowed = {
        (each["verb"], f"{each['group']}/{each['resource']}/{each['subresource']}", each["name"])
        for each in case.get("allow") or ()
    }
    found = []
    for each in needed(case):
        verb, path, name = each.split(" ")
        if not {(verb, path, name), (verb, path, "*")} & allowed:
            group, _, resource = path.partition("/")
            found.append(f'{verb} {resource}.{group} "{name}"')
    return found


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


def _is_about_times(case: Mapping[str, Any]) -> bool:
    return case["operation"] == "UPDATE" and "TimeAdded" in (case["expect"].get("error") or "")


def forged(case: Mapping[str, Any]) -> list[str]:
    """Keys of taints that bring a time which is not the one that is stored."""
    stored = _stored_times(case)
    return [
        each["key"]
        for each in _taints(case["new"])
        if each.get("timeAdded") is not None and each["timeAdded"] != stored.get(_identity(each))
    ]


def _timed(case: Mapping[str, Any]) -> list[Object]:
    """The taints as they are to be stored: an old one keeps its time, a new one has the server's."""
    stored = _stored_times(case)
    now = NOW.strftime("%Y-%m-%dT%H:%M:%SZ")
    return [each | {"timeAdded": stored.get(_identity(each)) or now} for each in _taints(case["new"])]


def _stored_times(case: Mapping[str, Any]) -> dict[tuple[str, ...], Any]:
    return {_identity(each): each.get("timeAdded") for each in reversed(_taints(case["old"]))}


def _taints(obj: Object) -> list[Object]:
    return (obj.get("spec") or {}).get("taints") or []


def _identity(taint: Mapping[str, Any]) -> tuple[str, ...]:
    return taint["key"], taint.get("value") or "", taint["effect"]


ADMISSION: Final = Suite(
    cases=list,
    name=lambda case: str(case["id"]),
    classify=classify,
    running=by(run),
    judge=judge,
    shape={
        **dict.fromkeys(
            keys(
                "id name origin source operation kind user allow new old pipeline validatorOnlyRejected "
                "terminatingNamespace note"
            )
        ),
        "expect": keys("accessReviews allowed error mutatedLabels reason stage mutatedTaints"),
    },
)

# --- What the proposal says ------------------------------------------------------------------------------------

PROPOSED: Final = ("admission-cluster-label", "admission-set")


def proposed(case: Mapping[str, Any]) -> dict[str, Any]:
    """One write by a user with certain rules, to a hub that holds the other objects of the row."""
    message = asyncio.run(_proposed(case))
    return {"allowed": True} if message is None else {"allowed": False, "error": message}


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
