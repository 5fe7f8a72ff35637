"""Creating objects: identity, names, defaults, dry runs, namespaces, admission."""

from __future__ import annotations

import asyncio
import re
from typing import Any

from muster.hub.api import Api
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.limits import ObjectLimits
from muster.hub.requests import (
    AccessRules,
    AdmissionRequest,
    Admitted,
    Attributes,
    Decision,
    ObjectBody,
    User,
    WriteOptions,
)
from muster.hub.status import refused
from muster.hub.storage import Unchanged
from tests.hub.a_hub import (
    ADMIN,
    CLUSTERS,
    GROUP,
    PLACEMENTS,
    Object,
    a_hub,
    cluster,
    complaint,
    config_map,
    namespace,
    placement,
    refusal,
    story,
)

UID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


@story
async def test_a_new_object_gets_identity_time_generation_defaults_and_an_owner() -> None:
    async with a_hub() as hub:
        created = await hub.create(cluster(labels={"env": "prod"}))
        assert UID.fullmatch(created["metadata"].pop("uid"))
        assert created == {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ManagedCluster",
            "metadata": {
                "name": "c1",
                "labels": {"env": "prod"},
                "creationTimestamp": "2026-01-02T03:04:05Z",
                "generation": 1,
                "resourceVersion": str(hub.store.revision),
                "managedFields": [
                    {
                        "manager": "test",
                        "operation": "Update",
                        "apiVersion": f"{GROUP}/v1",
                        "time": "2026-01-02T03:04:05Z",
                        "fieldsType": "FieldsV1",
                        "fieldsV1": {
                            "f:metadata": {"f:labels": {".": {}, "f:env": {}}},
                            "f:spec": {".": {}, "f:hubAcceptsClient": {}, "f:leaseDurationSeconds": {}},
                        },
                    }
                ],
            },
            "spec": {"hubAcceptsClient": True, "leaseDurationSeconds": 60},
        }


@story
async def test_what_is_created_is_what_is_got() -> None:
    async with a_hub() as hub:
        created = await hub.create(cluster())
        assert await hub.get(CLUSTERS, "c1") == created


@story
async def test_what_only_the_server_sets_is_not_taken_from_the_client() -> None:
    async with a_hub() as hub:
        body = cluster()
        body["metadata"] |= {"uid": "mine", "generation": 7, "deletionTimestamp": "2020-01-01T00:00:00Z"}
        body["status"] = {"version": {"kubernetes": "v1.30"}}
        created = await hub.create(body)
        assert UID.fullmatch(created["metadata"]["uid"])
        assert created["metadata"]["generation"] == 1
        assert "deletionTimestamp" not in created["metadata"]
        assert "status" not in created


@story
async def test_a_second_object_of_the_same_name_is_refused() -> None:
    async with a_hub() as hub:
        await hub.create(cluster())
        error = await refusal(hub.create(cluster()))
        assert error.status == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": f'{CLUSTERS} "c1" already exists',
            "reason": "AlreadyExists",
            "details": {"name": "c1", "group": GROUP, "kind": "managedclusters"},
            "code": 409,
        }


@story
async def test_of_many_creators_of_one_name_exactly_one_succeeds() -> None:
    async with a_hub() as hub:
        results = await asyncio.gather(*(hub.create(cluster()) for _ in range(20)), return_exceptions=True)
        assert sum(isinstance(result, dict) for result in results) == 1


@story
async def test_generated_names_begin_as_asked_and_differ() -> None:
    async with a_hub() as hub:
        body = cluster()
        body["metadata"] = {"generateName": "gen-"}
        made = {(await hub.create(body))["metadata"]["name"] for _ in range(5)}
        assert len(made) == 5
        assert all(re.fullmatch("gen-[bcdfghjklmnpqrstvwxz2456789]{5}", name) for name in made)


@story
async def test_a_resource_version_on_a_new_object_is_refused() -> None:
    async with a_hub() as hub:
        body = cluster()
        body["metadata"]["resourceVersion"] = "5"
        assert await complaint(hub.create(body)) == (
            500,
            "",
            "resourceVersion should not be set on objects to be created",
        )


@story
async def test_a_dry_run_answers_as_if_and_stores_nothing() -> None:
    async with a_hub() as hub:
        before = hub.store.revision
        created = await hub.create(cluster(), dry_run=("All",))
        assert created["spec"] == {"hubAcceptsClient": True, "leaseDurationSeconds": 60}
        assert "resourceVersion" not in created["metadata"]
        assert hub.store.revision == before
        await hub.create(cluster())
        assert (await complaint(hub.create(cluster(), dry_run=("All",))))[0] == 409


@story
async def test_unknown_fields_are_warned_about_refused_or_dropped_as_the_client_wishes() -> None:
    async with a_hub() as hub:
        body = cluster(bogus=1) | {"extra": 2}
        created = await hub.create(body, dry_run=("All",))
        assert "bogus" not in created["spec"]
        assert list(hub.warnings) == ['unknown field "extra"', 'unknown field "spec.bogus"']
        await hub.create(body, dry_run=("All",), field_validation="Ignore")
        assert len(hub.warnings) == 0
        assert await complaint(hub.create(body, field_validation="Strict")) == (
            400,
            "BadRequest",
            'ManagedCluster in version "v1" cannot be handled as a ManagedCluster: '
            'strict decoding error: unknown field "extra", unknown field "spec.bogus"',
        )


@story
async def test_options_that_make_no_sense_are_refused_together() -> None:
    async with a_hub() as hub:
        error = await refusal(hub.create(cluster(), dry_run=("foo",), field_validation="Bogus"))
        assert error.message == (
            'CreateOptions.meta.k8s.io "" is invalid: [dryRun: Unsupported value: ["foo"]: supported values: "All", '
            'fieldValidation: Unsupported value: "Bogus": supported values: "", "Ignore", "Strict", "Warn"]'
        )


@story
async def test_nothing_is_created_in_a_namespace_that_does_not_exist_or_is_going() -> None:
    async with a_hub() as hub:
        assert await complaint(hub.create(placement(namespace="nope"))) == (
            404,
            "NotFound",
            'namespaces "nope" not found',
        )
        await hub.create(namespace("leaving"))
        await hub.create(placement("held", "leaving", finalizers=["a.b/c"]))
        await hub.delete("namespaces", "leaving")
        error = await refusal(hub.create(placement(namespace="leaving")))
        assert error.message == (
            f'{PLACEMENTS} "p1" is forbidden: unable to create new content in namespace leaving '
            "because it is being terminated"
        )
        assert error.code == 403
        assert error.details is not None
        assert error.details["causes"] == [
            {
                "reason": "NamespaceTerminating",
                "message": "namespace leaving is being terminated",
                "field": "metadata.namespace",
            }
        ]


@story
async def test_the_namespace_in_the_object_must_be_the_one_asked_for() -> None:
    async with a_hub() as hub:
        target = hub.target(PLACEMENTS, namespace="default")

        call = hub.api.create(ADMIN, target, ObjectBody(placement(namespace="other")), WriteOptions())
        assert await complaint(call) == (
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request",
        )


class Refusing:
    """Says no to everybody."""

    async def authorize(self, user: User, attributes: Attributes) -> Decision:
        return Decision(False)

    async def missing(self, user: User, verb: str, resource: str, names: Any, namespace: str = "") -> list[str]:
        return list(names)

    async def rules(self, user: User, namespace: str) -> AccessRules:
        return AccessRules()


@story
async def test_the_unauthorized_learn_who_may_not_do_what_and_where() -> None:
    async with a_hub(Refusing()) as hub:
        assert (await refusal(hub.create(placement()))).message == (
            f'{PLACEMENTS} is forbidden: User "admin" cannot create resource "placements" in API group '
            f'"{GROUP}" in the namespace "default"'
        )
        assert (await refusal(hub.get(CLUSTERS, "c1"))).message == (
            f'{CLUSTERS} "c1" is forbidden: User "admin" cannot get resource "managedclusters" in API group '
            f'"{GROUP}" at the cluster scope'
        )
        assert (await refusal(hub.list(CLUSTERS, field_selector="metadata.name=c9"))).message.startswith(
            f'{CLUSTERS} "c9" is forbidden'
        )


class Stamping:
    """Admission that labels what it sees, refuses one name, and reads a namespace that somebody changes."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.hub: Any = None

    async def mutate(self, request: AdmissionRequest) -> Admitted:
        assert request.new is not None
        self.asked.append(request.operation)
        metadata: Object = request.new["metadata"]
        metadata["labels"] = {**metadata.get("labels", {}), "seen": "yes"}
        return Admitted(request.new, ("stamped",))

    async def validate(self, request: AdmissionRequest) -> Admitted:
        if request.new is not None and request.new["metadata"]["name"] == "bad":
            raise refused(GROUP, "managedclusters", "bad", "not that one")
        revision = self.hub.store.revision
        if len(self.asked) == 1:
            # What was read changes before the write commits.
            await self.hub.create(config_map("touched"))
        return Admitted(read=(Unchanged("configmaps", "default", "touched", revision),))


@story
async def test_admission_changes_and_refuses_and_is_asked_again_when_what_it_read_has_changed() -> None:
    plugin = Stamping()
    async with a_hub(admission=[plugin]) as hub:
        plugin.hub = hub
        created = await hub.create(cluster())
        assert created["metadata"]["labels"] == {"seen": "yes"}
        assert created["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"] == {
            "f:labels": {".": {}, "f:seen": {}}
        }
        # Once for the cluster, once for the config map that came in between, once again for the cluster.
        assert plugin.asked == ["CREATE", "CREATE", "CREATE"]
        assert hub.warnings == ("stamped",)
        assert await complaint(hub.create(cluster("bad"))) == (
            403,
            "Forbidden",
            f'{CLUSTERS} "bad" is forbidden: not that one',
        )


@story
async def test_a_full_hub_says_which_setting_makes_room() -> None:
    async with a_hub() as hub:
        hub.api = Api(hub.store, AdministratorsOnlyAuthorizer(), limits=ObjectLimits(objects_per_kind=2))
        await hub.create(cluster("a"))
        await hub.create(cluster("b"))
        assert await complaint(hub.create(cluster("c"))) == (
            403,
            "Forbidden",
            f'{CLUSTERS} "c" is forbidden: the hub holds 2 managedclusters and takes no more '
            "(setting objectsPerKind, option --objects-per-kind)",
        )
        await hub.create(config_map())


@story
async def test_an_owner_named_twice_is_named_once_with_a_warning() -> None:
    async with a_hub() as hub:
        owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "m", "uid": "u"}
        body = cluster()
        body["metadata"]["ownerReferences"] = [owner, owner]
        created = await hub.create(body)
        assert created["metadata"]["ownerReferences"] == [owner]
        assert [warning.rpartition("; ")[2] for warning in hub.warnings] == ["duplicate UID(s) observed: u"]
