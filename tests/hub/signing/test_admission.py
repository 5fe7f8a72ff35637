"""Who may ask for a certificate, approve one and sign one."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from muster.hub.auth.rbac.authorizer import RbacAuthorizer
from muster.hub.requests import User
from muster.hub.signing.admission import RequestAdmission
from muster.hub.storage import Store
from tests.hub.a_guarded_hub import GuardedHub, rule
from tests.hub.a_hub import complaint, story
from tests.hub.signing.requests import CLIENT, CSRS, KUBELET, approved, pem, signing_request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

GROUP = "certificates.k8s.io"
NAME = "certificatesigningrequests"


@asynccontextmanager
async def a_signing_hub() -> AsyncIterator[GuardedHub]:
    store = Store.open(None)
    authorizer = RbacAuthorizer(store)
    hub = GuardedHub(store, authorizer, [RequestAdmission(authorizer)])
    await authorizer.start()
    await hub.api.start()
    try:
        yield hub
    finally:
        await hub.api.close()
        await authorizer.close()
        await store.close()


@story
async def test_who_asks_is_written_by_the_hub_whatever_the_request_says() -> None:
    async with a_signing_hub() as hub:
        user = User("jane", "7", ("devs", "system:masters"), {"scopes": ("a", "b")})
        spoofed = signing_request("r", pem("jane"), username="root", uid="0", groups=["x"], extra={"y": ["z"]})
        created = await hub.create(spoofed, user)
        asker = {name: created["spec"].get(name) for name in ("username", "uid", "groups", "extra")}
        assert asker == {
            "username": "jane",
            "uid": "7",
            "groups": ["devs", "system:masters"],
            "extra": {"scopes": ["a", "b"]},
        }


@story
async def test_nobody_can_ask_to_become_a_master() -> None:
    async with a_signing_hub() as hub:
        assert await complaint(hub.create(signing_request("r", pem("jane", "devs", "system:masters")))) == (
            403,
            "Forbidden",
            f'{NAME}.{GROUP} "r" is forbidden: use of {CLIENT} signer with system:masters group is not allowed',
        )
        await hub.create(signing_request("other", pem("jane", "system:masters"), "example.com/theirs"))


@pytest.mark.parametrize("name", [CLIENT, "kubernetes.io/*"])
@story
async def test_a_verdict_takes_the_permission_for_its_signer(name: str) -> None:
    async with a_signing_hub() as hub:
        created = await hub.create(signing_request("r", pem("jane")))
        writes = rule("update", f"{NAME}/approval", group=GROUP)
        approver = await hub.grant("approver", writes)
        assert await complaint(hub.update(approved(created), "approval", user=approver)) == (
            403,
            "Forbidden",
            f'{NAME}.{GROUP} "r" is forbidden: user not permitted to approve requests with signerName "{CLIENT}"',
        )
        await hub.grant("approver", writes, rule("approve", "signers", name, group=GROUP))
        given = await hub.update(approved(created), "approval", user=approver)
        assert [each["type"] for each in given["status"]["conditions"]] == ["Approved"]


@story
async def test_the_permission_is_for_the_signer_that_is_stored_not_for_the_one_that_is_sent() -> None:
    async with a_signing_hub() as hub:
        created = await hub.create(signing_request("r", pem("jane")))
        approver = await hub.grant(
            "approver",
            rule("update", f"{NAME}/approval", group=GROUP),
            rule("approve", "signers", KUBELET, group=GROUP),
        )
        sent = approved(created) | {"spec": {**created["spec"], "signerName": KUBELET}}
        code, _, text = await complaint(hub.update(sent, "approval", user=approver))
        assert (code, CLIENT in text) == (403, True)


@story
async def test_a_certificate_takes_the_permission_to_sign() -> None:
    async with a_signing_hub() as hub:
        created = await hub.create(signing_request("r", pem("jane")))
        writes = rule("update", f"{NAME}/status", group=GROUP)
        signer = await hub.grant("signer", writes)
        failed = {**created, "status": {"conditions": [{"type": "Failed", "status": "True"}]}}
        code, _, text = await complaint(hub.update(failed, "status", user=signer))
        assert (code, text.endswith(f'user not permitted to sign requests with signerName "{CLIENT}"')) == (403, True)
        await hub.grant("signer", writes, rule("sign", "signers", CLIENT, group=GROUP))
        assert (await hub.update(failed, "status", user=signer))["status"]["conditions"][0]["type"] == "Failed"


@story
async def test_a_request_never_changes() -> None:
    async with a_signing_hub() as hub:
        created = await hub.create(signing_request("r", pem("jane")))
        other = {**created["spec"], "usages": ["server auth"], "username": "root"}
        status = {"conditions": [{"type": "Approved", "status": "True"}]}
        changed = await hub.update({**created, "spec": other, "status": status})
        assert (changed["spec"], changed["status"]) == (created["spec"], {})
        assert changed["metadata"]["resourceVersion"] == created["metadata"]["resourceVersion"]
        patched = await hub.patch(hub.target(CSRS, "r"), {"spec": {"usages": []}, "metadata": {"labels": {"a": "b"}}})
        assert (patched["spec"], patched["metadata"]["labels"]) == (created["spec"], {"a": "b"})


@story
async def test_a_verdict_cannot_be_given_through_the_status() -> None:
    async with a_signing_hub() as hub:
        created = await hub.create(signing_request("r", pem("jane")))
        code, _, text = await complaint(hub.update(approved(created), "status"))
        assert (code, 'updates may not add a condition of type "Approved"' in text) == (422, True)
        given = await hub.update(approved(created), "approval")
        code, _, text = await complaint(hub.update({**given, "status": {}}, "status"))
        assert (code, 'updates may not remove a condition of type "Approved"' in text) == (422, True)


@story
async def test_nobody_owns_the_spec_and_conditions_get_their_times() -> None:
    async with a_signing_hub() as hub:
        created = await hub.create(
            signing_request("r", pem("jane")) | {"metadata": {"name": "r", "labels": {"a": "b"}}}
        )
        assert [entry["fieldsV1"] for entry in created["metadata"]["managedFields"]] == [
            {"f:metadata": {"f:labels": {".": {}, "f:a": {}}}}
        ]
        hub.later()
        given = await hub.update(approved(created), "approval")
        (condition,) = given["status"]["conditions"]
        assert condition["lastUpdateTime"] == condition["lastTransitionTime"] == "2026-01-02T03:05:05Z"
