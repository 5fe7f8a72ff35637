"""The signer at work: from an approval to a certificate that lets its holder in, and what becomes of old requests."""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import ssl
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from cryptography.hazmat.primitives import serialization

from muster.api.certificate_rules import read_signing_request
from muster.hub.auth.certificates import serving_certificate
from muster.hub.signing.signer import Signer, is_over
from tests.hub.a_hub import START, Hub, a_hub, story
from tests.hub.rest.running import running_hub
from tests.hub.signing.requests import CSRS, KEY, approved, pem, signing_request

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@asynccontextmanager
async def a_signer(hub: Hub, directory: Path) -> AsyncIterator[Signer]:
    signer = Signer(hub.api, hub.store, directory, lambda: hub.now)
    signer.start()
    try:
        yield signer
    finally:
        await signer.close()


async def outcome(hub: Hub, name: str) -> dict[str, Any]:
    """The status once the signer has done its part."""
    async with asyncio.timeout(10):
        while True:
            status: dict[str, Any] = (await hub.get(CSRS, name))["status"]
            if "certificate" in status or any(each["type"] == "Failed" for each in status.get("conditions", ())):
                return status
            await asyncio.sleep(0.01)


@story
async def test_what_was_approved_before_the_signer_started_is_signed_too(tmp_path: Path) -> None:
    async with a_hub() as hub:
        await hub.update(approved(await hub.create(signing_request("early", pem("jane")))), "approval")
        async with a_signer(hub, tmp_path):
            assert "certificate" in await outcome(hub, "early")
            await hub.update(approved(await hub.create(signing_request("late", pem("joe")))), "approval")
            assert "certificate" in await outcome(hub, "late")


@story
async def test_nothing_is_signed_that_was_denied_or_is_for_another_signer(tmp_path: Path) -> None:
    async with a_hub() as hub, a_signer(hub, tmp_path):
        denied = await hub.create(signing_request("denied", pem("jane")))
        await hub.update(approved(denied, "Denied"), "approval")
        theirs = await hub.create(signing_request("theirs", pem("jane"), "example.com/theirs"))
        await hub.update(approved(theirs), "approval")
        await hub.create(signing_request("waiting", pem("jane")))
        await hub.update(approved(await hub.create(signing_request("ours", pem("jane")))), "approval")
        await outcome(hub, "ours")  # which came last
        for name in ("denied", "theirs", "waiting"):
            assert "certificate" not in (await hub.get(CSRS, name))["status"]


@story
async def test_what_the_signer_does_not_sign_says_why(tmp_path: Path) -> None:
    async with a_hub() as hub, a_signer(hub, tmp_path):
        created = await hub.create(signing_request("r", pem("jane"), usages=["client auth", "server auth"]))
        await hub.update(approved(created), "approval")
        status = await outcome(hub, "r")
        failed = status["conditions"][-1]
        assert (failed["type"], failed["reason"], failed["message"]) == (
            "Failed",
            "SignerValidationFailure",
            "invalid usage for client certificate: server auth",
        )
        assert "certificate" not in status


def test_the_holder_of_an_issued_certificate_is_who_it_names(tmp_path: Path) -> None:
    tls = serving_certificate(tmp_path)
    with running_hub(tls=tls, state=tmp_path) as hub:
        signer = Signer(hub.api, hub.store, tmp_path)
        hub.call(_started(signer))
        try:
            base = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
            kind = {"Content-Type": "application/json"}
            body = json.dumps(signing_request("r", pem("jane", "devs"))).encode()
            _, _, answer = hub.request("POST", base, body, kind)
            hub.request("PUT", f"{base}/r/approval", json.dumps(approved(json.loads(answer))).encode(), kind)
            certificate = b""
            while not certificate:
                status = json.loads(hub.request("GET", f"{base}/r")[2])["status"]
                certificate = base64.b64decode(status.get("certificate", ""))
        finally:
            hub.call(signer.close())
        files = tmp_path / "jane.crt", tmp_path / "jane.key"
        files[0].write_bytes(certificate)
        files[1].write_bytes(
            KEY.private_bytes(
                serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
            )
        )
        context = ssl.create_default_context(cadata=tls.authority.decode())
        context.load_cert_chain(*files)
        connection = http.client.HTTPSConnection(hub.host, hub.port, timeout=30, context=context)
        review = json.dumps({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
        connection.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", review, kind)
        user = json.loads(connection.getresponse().read())["status"]["userInfo"]
        connection.close()
    assert (user["username"], user["groups"]) == ("jane", ["devs", "system:authenticated"])


async def _started(signer: Signer) -> None:
    signer.start()


@pytest.mark.parametrize(
    ("conditions", "certificate", "hours", "over"),
    [
        ([], "", 23, False),
        ([], "", 25, True),
        (["Denied"], "", 0.9, False),
        (["Denied"], "", 1.1, True),
        (["Approved"], "", 23, False),
        (["Approved"], "", 25, True),
        (["Approved"], "x", 1.1, True),
        (["Approved", "Failed"], "", 1.1, True),
    ],
)
def test_requests_stay_an_hour_once_decided_and_a_day_while_they_wait(
    conditions: list[str], certificate: str, hours: float, over: bool
) -> None:
    written = "2026-01-02T03:04:05Z"
    status = {"conditions": [{"type": each, "lastUpdateTime": written} for each in conditions]}
    obj = {
        "metadata": {"creationTimestamp": written},
        "status": {**status, **({"certificate": certificate} if certificate else {})},
    }
    assert is_over(read_signing_request(obj), START + timedelta(hours=hours)) is over


@story
async def test_old_requests_are_deleted(tmp_path: Path) -> None:
    async with a_hub() as hub:
        signer = Signer(hub.api, hub.store, tmp_path, lambda: hub.now)
        await hub.create(signing_request("old", pem("jane")))
        hub.later(25 * 3600)
        await hub.create(signing_request("new", pem("jane")))
        assert await signer.sweep() == 1
        assert await hub.names(CSRS) == ["new"]
