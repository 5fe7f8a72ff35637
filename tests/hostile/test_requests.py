"""The findings about request bodies, each as one request against a hub in this process.

CPU time is measured, not the clock, with margins that only a wrong order of growth exceeds.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from muster.api import RESOURCES
from muster.api.fleet_parts import GROUP as FLEET
from tests.hostile.in_process import NOBODY, Answered, InProcess, in_process
from tests.hostile.mutations import VALUES, address, mutable_object, places, requests
from tests.hostile.whole_objects import whole_object

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

    from muster.api.resource import Resource

GROUP = "cluster.open-cluster-management.io"
CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
ACCOUNTS = "/api/v1/namespaces/default/serviceaccounts"
CLUSTERS = f"/apis/{GROUP}/v1/managedclusters"
SETS = f"/apis/{GROUP}/v1beta2/managedclustersets"
PLACEMENTS = f"/apis/{GROUP}/v1beta1/namespaces/default/placements"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
BINDINGS = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
YAML, MERGE = "application/yaml", "application/merge-patch+json"
STRATEGIC, JSON_PATCH = "application/strategic-merge-patch+json", "application/json-patch+json"
APPLY = "application/apply-patch+yaml"


def told(state: Path, story: Callable[[InProcess], Awaitable[None]]) -> None:
    async def run() -> None:
        async with in_process(state) as hub:
            await story(hub)

    asyncio.run(run())


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def config_map(name: str = "c", metadata: Any = (), **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **dict(metadata)}, **fields}


def cluster(name: str = "c", **spec: Any) -> dict[str, Any]:
    return {"apiVersion": f"{GROUP}/v1", "kind": "ManagedCluster", "metadata": {"name": name}, "spec": spec}


def causes_of(answer: Answered) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(answer.body)["details"]["causes"]
    return found


# --- before parsing -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [b"x: " + b"[" * 40_000, b"- " * 40_000, b"{a: " * 40_000, b"? " * 40_000])
def test_a_body_that_nests_without_end_is_refused_whoever_sends_it(tmp_path: Path, text: bytes) -> None:
    """It ended the process: the C composer recursed, even for users who had been refused."""

    async def story(hub: InProcess) -> None:
        assert (await hub.send("POST", CONFIG_MAPS, text, YAML, token=NOBODY)).code == 403
        assert (await hub.send("POST", CONFIG_MAPS, text, YAML)).code == 400
        assert (await hub.send("PATCH", f"{CONFIG_MAPS}/c?fieldManager=m", text, APPLY)).code == 400
        assert (await hub.send("DELETE", f"{CONFIG_MAPS}/c", text, YAML)).code == 400

    told(tmp_path, story)


def test_a_long_yaml_body_is_read_beside_the_loop(tmp_path: Path) -> None:
    async def story(hub: InProcess) -> None:
        answer = await hub.send("POST", CONFIG_MAPS, b"x: [" + b"a," * 300_000 + b"]", YAML)
        assert answer.code == 400
        assert answer.on_loop < answer.cpu / 2

    told(tmp_path, story)


def test_the_body_of_a_refused_user_is_not_parsed(tmp_path: Path) -> None:
    async def story(hub: InProcess) -> None:
        for body, content_type in (
            (b"x: [" + b"a," * 1_000_000 + b"]", YAML),
            (encoded({"x": ["a"] * 500_000}), "application/json"),
            (b"k8s\x00" + b"\x08\x01" * 1_000_000, "application/vnd.kubernetes.protobuf"),
        ):
            answer = await hub.send("POST", CONFIG_MAPS, body, content_type, token=NOBODY)
            assert answer.code == 403
            assert answer.cpu < 0.2

    told(tmp_path, story)


# --- nothing worse than linear --------------------------------------------------------------------------------------


def test_bad_keys_by_the_hundred_thousand_are_told_by_a_few_causes(tmp_path: Path) -> None:
    async def story(hub: InProcess) -> None:
        body = encoded(config_map(data={f"k {number}": "v" for number in range(100_000)}))
        answer = await hub.send("POST", CONFIG_MAPS, body)
        assert answer.code == 422
        assert answer.cpu < 3
        assert len(answer.body) < 100_000
        assert causes_of(answer)[-1] == {"message": "and 900 or more others"}
        few = await hub.send(
            "POST", CONFIG_MAPS, encoded(config_map(data={f"k {number}": "v" for number in range(103)}))
        )
        assert causes_of(few)[-1] == {"message": "and 3 more"}
        assert "and 3 more]" in json.loads(few.body)["message"]

    told(tmp_path, story)


def test_ten_thousand_owners_are_compared_in_linear_time(tmp_path: Path) -> None:
    async def story(hub: InProcess) -> None:
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "p"}
        different = [{**owner, "uid": f"u{number}"} for number in range(10_000)]
        answer = await hub.send("POST", CONFIG_MAPS, encoded(config_map(metadata={"ownerReferences": different})))
        assert (answer.code, answer.cpu < 2) == (201, True)
        in_charge = [{**each, "controller": True} for each in different]
        answer = await hub.send("POST", CONFIG_MAPS, encoded(config_map(metadata={"ownerReferences": in_charge})))
        assert (answer.code, answer.cpu < 4) == (422, True)
        assert len(answer.body) < 500_000

    told(tmp_path, story)


def test_a_strategic_patch_of_two_thousand_onto_five_thousand_items_is_linear(tmp_path: Path) -> None:
    async def story(hub: InProcess) -> None:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "a"}}
        names = [{"name": f"s{number}"} for number in range(5_000)]
        await hub.send("POST", ACCOUNTS, encoded({**account, "secrets": names, "imagePullSecrets": names}))
        changed = [{"name": f"s{number * 2}", "namespace": "x"} for number in range(2_000)]
        answer = await hub.send("PATCH", f"{ACCOUNTS}/a", encoded({"secrets": changed}), STRATEGIC)
        assert (answer.code, answer.cpu < 4) == (200, True)
        stored = json.loads(answer.body)["secrets"]
        assert stored[0] == {"name": "s0", "namespace": "x"}
        assert len(stored) == 5_000
        gone = [{**each, "$patch": "delete"} for each in names[:4_999]]
        answer = await hub.send("PATCH", f"{ACCOUNTS}/a", encoded({"secrets": gone}), STRATEGIC)
        assert json.loads(answer.body)["secrets"] == [{"name": "s4999"}]

    told(tmp_path, story)


@pytest.mark.parametrize(
    "operations",
    [
        [{"op": "add", "path": "/x", "value": [[]]}, *[{"op": "copy", "from": "/x", "path": "/x/-"}] * 60],
        [{"op": "add", "path": "/x", "value": ["y" * 1000]}, *[{"op": "copy", "from": "/x", "path": "/x/-"}] * 60],
        [{"op": "copy", "from": "", "path": f"/x{number % 3}"} for number in range(60)],
        [{"op": "add", "path": "/x", "value": [1] * 100_000}, *[{"op": "add", "path": "/x/0", "value": 1}] * 9_000],
        [
            {"op": "add", "path": "/x", "value": [1] * 100_000},
            *[{"op": "move", "from": "/x/0", "path": "/x/-"}] * 9_000,
        ],
    ],
)
def test_a_json_patch_that_grows_or_moves_too_much_is_refused_before_it_does(
    tmp_path: Path, operations: list[Any]
) -> None:
    async def story(hub: InProcess) -> None:
        await hub.send("POST", CLUSTERS, encoded(cluster()))
        answer = await hub.send("PATCH", f"{CLUSTERS}/c", encoded(operations), JSON_PATCH)
        assert answer.code == 422
        assert answer.cpu < 2
        assert answer.on_loop < 0.2

    told(tmp_path, story)


@pytest.mark.parametrize(
    "last", [[], [{"op": "copy", "from": "/x", "path": "/z"}], [{"op": "move", "from": "/x", "path": ""}]]
)
def test_a_json_patch_that_nests_without_end_is_refused(tmp_path: Path, last: list[Any]) -> None:
    async def story(hub: InProcess) -> None:
        await hub.send("POST", CLUSTERS, encoded(cluster()))
        deeper = [
            {"op": "add", "path": "/y", "value": []},
            {"op": "move", "from": "/x", "path": "/y/0"},
            {"op": "move", "from": "/y", "path": "/x"},
        ]
        operations = [{"op": "add", "path": "/x", "value": []}, *deeper * 2_000, *last]
        answer = await hub.send("PATCH", f"{CLUSTERS}/c", encoded(operations), JSON_PATCH)
        assert answer.code == 422

    told(tmp_path, story)


def test_thousands_of_recorded_managers_are_merged_in_linear_time(tmp_path: Path) -> None:
    async def story(hub: InProcess) -> None:
        for operation in ("Update", "Apply"):
            entry = {"operation": operation, "apiVersion": "v1", "fieldsType": "FieldsV1"}
            entries = [
                {**entry, "manager": f"m{number}", "fieldsV1": {"f:data": {f"f:k{number}": {}}}}
                for number in range(8_000)
            ]
            name = operation.lower()
            obj = config_map(name, {"managedFields": entries}, data={"a": "b"})
            answer = await hub.send("POST", CONFIG_MAPS, encoded(obj))
            assert (answer.code, answer.cpu < 4) == (201, True)
            config = encoded(config_map(name, data={f"k{number}": "v" for number in range(8_000)}))
            answer = await hub.send("PATCH", f"{CONFIG_MAPS}/{name}?fieldManager=z&force=true", config, APPLY)
            assert (answer.code, answer.cpu < 4) == (200, True)

    told(tmp_path, story)


def test_conflicts_without_number_are_told_by_the_first_of_them(tmp_path: Path) -> None:
    async def story(hub: InProcess) -> None:
        first, second = ({f"k{number}": text for number in range(5_000)} for text in ("a", "b"))
        await hub.send("PATCH", f"{CONFIG_MAPS}/c?fieldManager=m", encoded(config_map(data=first)), APPLY)
        answer = await hub.send("PATCH", f"{CONFIG_MAPS}/c?fieldManager=n", encoded(config_map(data=second)), APPLY)
        assert (answer.code, answer.cpu < 4) == (409, True)
        message = json.loads(answer.body)["message"]
        assert message.startswith("Apply failed with 5000 conflicts: conflicts with")
        assert message.endswith("and 4900 more")
        assert len(answer.body) < 100_000

    told(tmp_path, story)


def test_unknown_fields_without_number_give_headers_that_clients_can_read(tmp_path: Path) -> None:
    async def story(hub: InProcess) -> None:
        unknown: dict[str, Any] = {f"f{number}": 1 for number in range(3_000)}
        answer = await hub.send("POST", CONFIG_MAPS, encoded(config_map(**unknown)))
        warnings = [value.decode() for name, value in answer.headers if name == b"warning"]
        assert len(warnings) == 21
        assert warnings[0] == '299 - "unknown field \\"f0\\""'
        assert warnings[-1] == '299 - "and 2980 more warnings"'
        long: dict[str, Any] = {f"{'x' * 3000}{number}": 1 for number in range(30)}
        answer = await hub.send("POST", f"{CONFIG_MAPS}?dryRun=All", encoded(config_map("d", **long)))
        assert sum(len(value) for name, value in answer.headers if name == b"warning") < 12 * 1024
        answer = await hub.send("POST", f"{CONFIG_MAPS}?fieldValidation=Strict", encoded(config_map("e", **unknown)))
        assert answer.code == 400
        assert json.loads(answer.body)["message"].endswith('unknown field "f1087", and 2900 more')

    told(tmp_path, story)


def test_a_question_about_access_has_a_reasonable_size(tmp_path: Path) -> None:
    async def story(hub: InProcess) -> None:
        spec = {
            "user": "a",
            "groups": [f"g{number}" for number in range(100_000)],
            "resourceAttributes": {"verb": "get"},
        }
        review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        assert (await hub.send("POST", path, encoded(review))).code == 413
        spec["groups"] = ["g"]
        assert (await hub.send("POST", path, encoded(review))).code == 201

    told(tmp_path, story)


def test_roles_and_bindings_have_a_bounded_number_of_items(tmp_path: Path) -> None:
    """Each change of one is followed by everybody who is authorized."""

    async def story(hub: InProcess) -> None:
        api = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "big"}}
        rules = [{"verbs": ["get"], "apiGroups": [""], "resources": [f"r{number}"]} for number in range(5_001)]
        answer = await hub.send("POST", ROLES, encoded({**api, "kind": "ClusterRole", "rules": rules}))
        assert [cause["message"] for cause in causes_of(answer)] == ["Too many: 5001: must have at most 5000 items"]

    told(tmp_path, story)


# --- mistakes of clients are 4xx ------------------------------------------------------------------------------------


def binding(**fields: Any) -> dict[str, Any]:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"}
    api = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding"}
    return {**api, "metadata": {"name": "b"}, "roleRef": role, **fields}


def placement(**groups: Any) -> dict[str, Any]:
    spec = {"decisionStrategy": {"groupStrategy": groups}}
    return {"apiVersion": f"{GROUP}/v1beta1", "kind": "Placement", "metadata": {"name": "p"}, "spec": spec}


@pytest.mark.parametrize(
    ("path", "obj", "code", "said"),
    [
        (CONFIG_MAPS, config_map(metadata={"finalizers": [None]}), 422, "metadata.finalizers: Invalid value"),
        (CONFIG_MAPS, config_map(metadata={"ownerReferences": [None]}), 422, "metadata.ownerReferences.kind"),
        (CLUSTERS, {**cluster(), "metadata": {"name": "c", "finalizers": [None]}}, 422, "metadata.finalizers"),
        (
            ROLES,
            {**binding(), "kind": "ClusterRole", "rules": [None]},
            422,
            "rules[0].verbs: Required value: verbs must contain at least one value",
        ),
        (BINDINGS, binding(subjects=[None]), 422, "subjects[0].kind: Unsupported value"),
        (CLUSTERS, cluster(taints=True), 422, "spec.taints in body must be of type array"),
        (CLUSTERS, cluster(taints=1.5), 422, "spec.taints in body must be of type array"),
        (CLUSTERS, cluster(taints="x"), 422, "spec.taints in body must be of type array"),
        (CONFIG_MAPS, config_map(binaryData={"a": "é"}), 400, "illegal base64 data"),
        (PLACEMENTS, placement(clustersPerDecisionGroup=9223372036854775808), 422, "clustersPerDecisionGroup"),
        (PLACEMENTS, placement(clustersPerDecisionGroup=1e300), 422, "clustersPerDecisionGroup"),
        (SETS.replace("v1beta2", "v1alpha1"), {"spec": "x"}, 422, "spec in body must be of type object"),
        (SETS.replace("v1beta2", "v1alpha1"), {"spec": {"clusterSelector": [1]}}, 422, "clusterSelector in body"),
    ],
)
def test_a_wrong_value_is_refused_by_field(tmp_path: Path, path: str, obj: Any, code: int, said: str) -> None:
    if "kind" not in obj:
        obj = {"apiVersion": f"{GROUP}/v1alpha1", "kind": "ManagedClusterSet", "metadata": {"name": "s"}, **obj}

    async def story(hub: InProcess) -> None:
        answer = await hub.send("POST", path, encoded(obj))
        assert answer.code == code, answer.body
        assert said in json.loads(answer.body)["message"]

    told(tmp_path, story)


def test_a_whole_number_with_a_point_is_stored_as_a_whole_number(tmp_path: Path) -> None:
    async def story(hub: InProcess) -> None:
        body = encoded(placement(clustersPerDecisionGroup="@")).replace(b'"@"', b"2.0")
        answer = await hub.send("POST", PLACEMENTS, body)
        assert b'"clustersPerDecisionGroup":2}' in answer.body

    told(tmp_path, story)


def test_every_kind_takes_a_whole_object(tmp_path: Path) -> None:
    """Or the mutations below would try nothing."""

    async def story(hub: InProcess) -> None:
        for resource in RESOURCES.values():
            if resource.group == FLEET:
                continue  # their fields exclude each other, and nobody is here to answer
            for version in resource.versions if "create" in resource.verbs else ():
                body = encoded(whole_object(resource, version))
                answer = await hub.send("POST", f"{address(resource, version)}?dryRun=All", body)
                assert answer.code == 201, answer.body

    told(tmp_path, story)


@pytest.mark.parametrize(
    "resource", [each for each in RESOURCES.values() if "create" in each.verbs], ids=lambda each: each.kind
)
def test_no_value_at_any_place_of_a_kind_makes_the_hub_fail(tmp_path: Path, resource: Resource) -> None:
    """A few of the half million combinations for each kind; a different few for each place."""

    async def story(hub: InProcess) -> None:
        for version in resource.versions:
            if not resource.virtual:
                await hub.send("POST", address(resource, version), encoded(whole_object(resource, version)))
            for number, place in enumerate(places(mutable_object(resource, version))):
                value = VALUES[(number * 7) % len(VALUES)]
                for turn, request in enumerate(requests(resource, version, place, value)):
                    if (turn + number) % 5 and turn:
                        continue
                    answer = await hub.send(request.method, request.path, request.body, request.content_type)
                    assert not answer.is_failure, (request, answer.body)

    told(tmp_path, story)


# --- selectors and expressions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("selector", "field"),
    [
        ({"matchExpressions": [{"key": "a", "operator": "Inn", "values": ["b"]}]}, "matchExpressions[0].operator"),
        ({"matchExpressions": [{"key": "a", "operator": "In"}]}, "matchExpressions[0].values"),
        ({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}, "matchExpressions[0].values"),
        ({"matchExpressions": [{"key": "!", "operator": "Exists"}]}, "matchExpressions[0].key"),
        ({"matchExpressions": [{"key": "a", "operator": "In", "values": ["!"]}]}, "matchExpressions[0].values[0]"),
        ({"matchLabels": {"! ": "a"}}, "matchLabels"),
        ({"matchLabels": {"a": "! "}}, "matchLabels"),
    ],
)
def test_a_set_whose_selector_cannot_match_is_refused(tmp_path: Path, selector: Any, field: str) -> None:
    async def story(hub: InProcess) -> None:
        chosen = {"selectorType": "LabelSelector", "labelSelector": selector}
        obj = {"apiVersion": f"{GROUP}/v1beta2", "kind": "ManagedClusterSet", "metadata": {"name": "s"}}
        answer = await hub.send("POST", SETS, encoded({**obj, "spec": {"clusterSelector": chosen}}))
        assert answer.code == 422
        assert [cause["field"] for cause in causes_of(answer)] == [f"spec.clusterSelector.labelSelector.{field}"]
        good = {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": {"a": "b"}}}
        assert (await hub.send("POST", SETS, encoded({**obj, "spec": {"clusterSelector": good}}))).code == 201
        answer = await hub.send("PATCH", f"{SETS}/s", encoded({"spec": {"clusterSelector": chosen}}), MERGE)
        assert answer.code == 422

    told(tmp_path, story)


def test_expressions_are_compiled_beside_the_loop_and_a_bad_one_once(tmp_path: Path) -> None:
    async def story(hub: InProcess) -> None:
        expressions = [f"managedCluster.metadata.name == 'a{number}' +" for number in range(100)]
        selector = {"requiredClusterSelector": {"celSelector": {"celExpressions": expressions}}}
        obj = {"apiVersion": f"{GROUP}/v1beta1", "kind": "Placement", "metadata": {"name": "p"}}
        body = encoded({**obj, "spec": {"predicates": [selector]}})
        first = await hub.send("POST", f"{PLACEMENTS}?dryRun=All", body)
        again = await hub.send("POST", f"{PLACEMENTS}?dryRun=All", body)
        assert first.code == again.code == 201
        assert first.on_loop < first.cpu / 2
        assert again.cpu < first.cpu / 2

    told(tmp_path, story)
