"""Request bodies by content type, and their arrival."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from muster.api import RESOURCES
from muster.hub.requests import PatchType
from muster.hub.rest.bodies import ClientGoneError, body_of, delete_body, patch_of, receive_body
from muster.hub.rest.limits import Limits
from muster.hub.status import StatusError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

CLUSTER = RESOURCES["managedclusters.cluster.open-cluster-management.io"]
NAMESPACE = RESOURCES["namespaces"]


@pytest.mark.parametrize(
    ("content_type", "raw"),
    [
        ("", b'{"a":1}'),
        ("application/json", b'{"a":1}'),
        ("application/json; charset=utf-8", b'{"a":1}'),
        ("Application/YAML", b"a: 1"),
        ("application/yaml", b'{"a":1}'),
        ("application/yaml", b"{a: 1}"),
    ],
)
def test_the_content_type_decides_how_a_body_is_read(content_type: str, raw: bytes) -> None:
    assert body_of(content_type, raw, CLUSTER).read().value == {"a": 1}


@pytest.mark.parametrize("content_type", ["text/plain", "application/vnd.kubernetes.protobuf", "application/x-yaml"])
def test_other_content_types_are_refused(content_type: str) -> None:
    with pytest.raises(StatusError) as caught:
        body_of(content_type, b"", CLUSTER)
    assert (caught.value.code, caught.value.reason) == (415, "UnsupportedMediaType")


def test_a_delete_without_a_body_has_no_options() -> None:
    assert delete_body("application/json", b"") is None
    body = delete_body("application/json", b'{"propagationPolicy":"Orphan"}')
    assert body is not None
    assert body.read().value == {"propagationPolicy": "Orphan"}
    with pytest.raises(StatusError):
        delete_body("text/plain", b"x")


def test_only_built_in_kinds_take_strategic_patches() -> None:
    strategic = "application/strategic-merge-patch+json"
    assert patch_of(strategic, b"{}", NAMESPACE)[0] is PatchType.STRATEGIC
    with pytest.raises(StatusError) as caught:
        patch_of(strategic, b"{}", CLUSTER)
    assert caught.value.message.endswith(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"
    )


def arriving(*messages: dict[str, Any]) -> Callable[[], Awaitable[dict[str, Any]]]:
    waiting = list(messages)

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.sleep(60)
        return waiting.pop(0)

    return receive


def part(body: bytes, *, more: bool) -> dict[str, Any]:
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_body_arrives_in_parts() -> None:
    receive = arriving(part(b"a", more=True), part(b"b", more=True), part(b"c", more=False))
    assert asyncio.run(receive_body(receive, Limits())) == b"abc"


@pytest.mark.parametrize("messages", [[part(b"abcd", more=True)], [part(b"ab", more=True), part(b"cd", more=False)]])
def test_a_body_beyond_the_limit_is_refused_as_soon_as_it_is_seen(messages: list[dict[str, Any]]) -> None:
    with pytest.raises(StatusError, match="limit is 3"):
        asyncio.run(receive_body(arriving(*messages), Limits(body_bytes=3)))


def test_a_client_that_leaves_or_dawdles_is_noticed() -> None:
    with pytest.raises(ClientGoneError):
        asyncio.run(receive_body(arriving(part(b"a", more=True), {"type": "http.disconnect"}), Limits()))
    with pytest.raises(StatusError, match="did not arrive within"):
        asyncio.run(receive_body(arriving(part(b"a", more=True)), Limits(body_seconds=0.01)))
