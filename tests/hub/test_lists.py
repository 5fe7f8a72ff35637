"""Lists: selectors, pages, revisions."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.hub.a_hub import (
    ADMIN,
    CLUSTERS,
    GROUP,
    PLACEMENTS,
    Hub,
    a_hub,
    cluster,
    complaint,
    names_in,
    namespace,
    placement,
    refusal,
    story,
)

A_TOKEN = "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Miwic3RhcnQiOiIvYVx1MDAwMCJ9"
short_names = st.text("abcd", min_size=1, max_size=3)


async def a_fleet(hub: Hub, *names: str) -> None:
    for number, name in enumerate(names):
        await hub.create(cluster(name, labels={"i": str(number), "parity": "odd" if number % 2 else "even"}))


@story
async def test_a_list_is_the_stored_objects_in_order() -> None:
    async with a_hub() as hub:
        await a_fleet(hub, "b", "a")
        answer = await hub.list(CLUSTERS)
        whole = msgspec.json.decode(answer.encode())
        assert whole == {
            "apiVersion": f"{GROUP}/v1",
            "kind": "ManagedClusterList",
            "metadata": {"continue": "", "resourceVersion": str(hub.store.revision)},
            "items": [await hub.get(CLUSTERS, "a"), await hub.get(CLUSTERS, "b")],
        }


@story
async def test_the_list_of_a_built_in_kind_has_no_empty_continue() -> None:
    async with a_hub() as hub:
        whole = msgspec.json.decode((await hub.list("configmaps")).encode())
        assert whole["metadata"] == {"resourceVersion": str(hub.store.revision)}


@story
async def test_a_page_says_where_to_go_on_and_how_much_is_left() -> None:
    async with a_hub() as hub:
        await a_fleet(hub, *"abcde")
        first = await hub.list(CLUSTERS, limit=2)
        assert (names_in(first), first.remaining) == (["a", "b"], 3)
        token = json.loads(base64.urlsafe_b64decode(first.continue_token + "=="))
        assert token == {"v": "meta.k8s.io/v1", "rv": hub.store.revision, "start": "/b\0"}
        await hub.create(cluster("bb"))
        await hub.delete(CLUSTERS, "c")
        second = await hub.list(CLUSTERS, limit=2, continue_token=first.continue_token)
        assert (names_in(second), second.remaining) == (["c", "d"], 1)
        assert second.resource_version == first.resource_version
        last = await hub.list(CLUSTERS, limit=2, continue_token=second.continue_token)
        assert (names_in(last), last.continue_token, last.remaining) == (["e"], "", None)


@story
async def test_pages_cross_namespaces() -> None:
    async with a_hub() as hub:
        await hub.create(namespace("other"))
        for where in ("default", "other"):
            for name in "ab":
                await hub.create(placement(name, where))
        seen, token = [], ""
        while True:
            page = await hub.list(PLACEMENTS, limit=1, continue_token=token)
            seen += [msgspec.json.decode(item)["metadata"] for item in page.items]
            if not (token := page.continue_token):
                break
        assert [(item["namespace"], item["name"]) for item in seen] == [
            ("default", "a"),
            ("default", "b"),
            ("other", "a"),
            ("other", "b"),
        ]
        page = await hub.list(PLACEMENTS, "other", limit=1)
        assert await hub.names(PLACEMENTS, "other", continue_token=page.continue_token) == ["b"]


@story
async def test_selectors_narrow_a_list_and_its_pages() -> None:
    async with a_hub() as hub:
        await a_fleet(hub, *"abcde")
        assert await hub.names(CLUSTERS, label_selector="parity=even,i in (0,2)") == ["a", "c"]
        assert await hub.names(CLUSTERS, label_selector="!parity") == []
        assert await hub.names(CLUSTERS, field_selector="metadata.name=b") == ["b"]
        assert await hub.names(CLUSTERS, field_selector="metadata.name!=b") == ["a", "c", "d", "e"]
        page = await hub.list(CLUSTERS, label_selector="parity=even", limit=2)
        assert (names_in(page), page.remaining) == (["a", "c"], None)
        assert await hub.names(CLUSTERS, label_selector="parity=even", continue_token=page.continue_token) == ["e"]


@story
async def test_declared_fields_can_be_selected_by_their_text() -> None:
    async with a_hub() as hub:
        resource = "clusters.clusters.openmcp.cloud"
        for name, profile in (("a", "p"), ("b", "q")):
            await hub.create(
                {
                    "apiVersion": "clusters.openmcp.cloud/v1alpha1",
                    "kind": "Cluster",
                    "metadata": {"name": name, "namespace": "default"},
                    "spec": {"profile": profile, "purposes": ["x"], "tenancy": "Shared", "kubernetes": {}},
                }
            )
        assert await hub.names(resource, field_selector="spec.profile=p") == ["a"]
        assert await hub.names(resource, field_selector="spec.profile!=p") == ["b"]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        ({"label_selector": "a==="}, 400, "unable to parse requirement: found '=', expected: identifier"),
        ({"field_selector": "foo"}, 400, "invalid selector: 'foo'; can't understand 'foo'"),
        ({"field_selector": "spec.x=1"}, 400, "field label not supported: spec.x"),
        (
            {"continue_token": "xyz"},
            400,
            "invalid continue token: continue key is not valid: invalid character 'Ç' looking for beginning of value",
        ),
        (
            {
                "continue_token": A_TOKEN,
                "resource_version": "5",
            },
            400,
            "specifying resource version is not allowed when using continue",
        ),
        ({"resource_version": "999"}, 504, None),
        (
            {"resource_version": "abc"},
            500,
            'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
        ),
        (
            {"resource_version_match": "Exact"},
            422,
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
        (
            {"resource_version_match": "Exact", "resource_version": "0"},
            422,
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
            'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        (
            {"send_initial_events": True},
            422,
            'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: '
            "sendInitialEvents is forbidden for list",
        ),
    ],
)
@story
async def test_a_list_that_cannot_be_is_refused(options: dict[str, Any], code: int, message: str | None) -> None:
    async with a_hub() as hub:
        found = await complaint(hub.list(CLUSTERS, **options))
        assert (found[0], found[2]) == (
            code,
            message or f"Timeout: Too large resource version: 999, current: {hub.store.revision}",
        )


@story
async def test_an_exact_list_is_the_past_and_an_older_one_is_now() -> None:
    async with a_hub() as hub:
        await a_fleet(hub, "a")
        then = str(hub.store.revision)
        await a_fleet(hub, "b")
        await hub.delete(CLUSTERS, "a")
        exact = await hub.list(CLUSTERS, resource_version=then, resource_version_match="Exact")
        assert (names_in(exact), exact.resource_version) == (["a"], then)
        assert await hub.names(CLUSTERS, resource_version=then) == ["b"]
        assert await hub.names(CLUSTERS, resource_version=then, resource_version_match="NotOlderThan") == ["b"]
        assert await hub.names(CLUSTERS, resource_version="1", resource_version_match="Exact") == []


@story
async def test_a_list_from_memory_ignores_its_limit() -> None:
    async with a_hub() as hub:
        await a_fleet(hub, *"abc")
        assert await hub.names(CLUSTERS, resource_version="0", limit=1) == ["a", "b", "c"]


@story
async def test_what_has_been_compacted_is_expired_and_a_token_can_go_on_from_now() -> None:
    async with a_hub() as hub:
        await a_fleet(hub, *"abcd")
        page = await hub.list(CLUSTERS, limit=1)
        await hub.delete(CLUSTERS, "b")
        await hub.create(cluster("bb"))
        await hub.store.compact(hub.store.revision)
        error = await refusal(hub.list(CLUSTERS, limit=1, continue_token=page.continue_token))
        assert (error.code, error.reason) == (410, "Expired")
        going_on = error.status["metadata"]["continue"]
        assert await hub.names(CLUSTERS, continue_token=going_on) == ["bb", "c", "d"]
        assert await complaint(
            hub.list(CLUSTERS, resource_version=page.resource_version, resource_version_match="Exact")
        ) == (410, "Expired", "The resourceVersion for the provided list is too old.")


@settings(max_examples=15, deadline=None)
@given(
    names=st.lists(short_names, unique=True, max_size=12),
    limit=st.integers(1, 5),
    writes=st.lists(st.tuples(st.sampled_from(["create", "delete", "label"]), short_names), max_size=20),
)
def test_pages_together_are_the_list_at_the_revision_of_the_first_whatever_is_written_meanwhile(
    names: list[str], limit: int, writes: list[tuple[str, str]]
) -> None:
    async def paging() -> None:
        async with a_hub() as hub:
            await asyncio.gather(*(hub.create(cluster(name)) for name in names))
            whole = await hub.list(CLUSTERS)
            pending = list(writes)
            page = await hub.list(CLUSTERS, limit=limit)
            items = list(page.items)
            while page.continue_token:
                for verb, name in pending[:3]:
                    await _write(hub, verb, name)
                del pending[:3]
                page = await hub.list(CLUSTERS, limit=limit, continue_token=page.continue_token)
                assert page.resource_version == whole.resource_version
                items += page.items
            assert items == list(whole.items)

    asyncio.run(paging())


async def _write(hub: Hub, verb: str, name: str) -> None:
    exists = name in await hub.names(CLUSTERS)
    if verb == "create" and not exists:
        await hub.create(cluster(name))
    elif verb == "delete" and exists:
        await hub.delete(CLUSTERS, name)
    elif verb == "label" and exists:
        await hub.patch(hub.target(CLUSTERS, name), {"metadata": {"labels": {"n": str(hub.store.revision)}}})


@story
async def test_a_get_at_a_revision_is_refused_only_if_that_is_yet_to_come() -> None:
    async with a_hub() as hub:
        await a_fleet(hub, "a")
        target = hub.target(CLUSTERS, "a")
        assert (await hub.api.get(ADMIN, target, "0")).decoded()["metadata"]["name"] == "a"
        error = await refusal(hub.api.get(ADMIN, target, "999"))
        assert error.status == {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": f"Timeout: Too large resource version: 999, current: {hub.store.revision}",
            "reason": "Timeout",
            "details": {
                "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}],
                "retryAfterSeconds": 1,
            },
            "code": 504,
        }
