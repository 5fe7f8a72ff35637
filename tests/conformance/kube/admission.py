"""AdmissionReviews as a real kube-apiserver sent them: each is read as the write it is about, and answered.

The recorded hooks were an example's: one added an annotation, one refused a label. `denied` is what the server made
of the refusal; ours must lead to the same.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from muster.admission import Finding, Settings, Write, refused
from muster.admission.kinds import KindChecks, kinds
from muster.admission.review import mutated, validated, write_of
from tests.conformance.results import CaseResult
from tests.conformance.suites import guarded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muster.admission import Asker

NOW = datetime(2026, 1, 1, tzinfo=UTC)
_CHECKS = kinds(Settings(default_cluster_set=False))  # the recorded hook left the labels of clusters alone
_HOOK = 'admission webhook "validate.example.com" denied the request: '


class _Empty:
    """A world without other objects, where everything is allowed."""

    async def get(self, resource: str, namespace: str, name: str) -> dict[str, Any] | None:
        return None

    async def list(self, resource: str, namespace: str | None = None) -> Sequence[dict[str, Any]]:
        return ()

    async def labelled(self, resource: str, key: str, value: str) -> Sequence[str]:
        return ()

    async def missing(
        self,
        asker: Asker,
        verb: str,
        resource: str,
        names: Sequence[str],
        namespace: str = "",
    ) -> Sequence[str]:
        return ()


def run_reviews(data: Any) -> Iterator[CaseResult]:
    for index, review in enumerate(data["reviews"]):
        name = f"review-{index + 1}"
        yield guarded(name, partial(_reviewed, name, review))
    yield guarded("denied", lambda: _denied(data["reviews"][0], data["denied"]))
    yield CaseResult("hookDown", apart="what the server says of a hook that does not answer")


def _reviewed(case: str, review: Mapping[str, Any]) -> CaseResult:
    request = review["request"]
    uid, write = write_of(review, NOW)
    about = request["resource"]
    expected = (
        request["uid"],
        request["operation"],
        f"{about['resource']}.{about['group']}",
        about["version"],
        request.get("namespace", ""),
        request["name"],
        request.get("subResource", ""),
        request["userInfo"]["username"],
        tuple(request["userInfo"]["groups"]),
        request["object"],
        request["oldObject"],
        request["dryRun"],
    )
    asker = write.asker
    ours = (
        uid,
        write.operation,
        write.resource,
        write.version,
        write.namespace,
        write.name,
        write.subresource,
        asker.name,
        asker.groups,
        write.new,
        write.old,
        write.dry_run,
    )
    if ours != expected:
        return CaseResult(case, ok=False, detail=f"read as {ours}")
    for answer in (mutated(review, NOW, _CHECKS), asyncio.run(validated(review, _Empty(), NOW, _CHECKS))):
        if answer["response"] != {"uid": request["uid"], "allowed": True}:
            return CaseResult(case, ok=False, detail=str(answer))
    return CaseResult(case)


def _denied(review: Mapping[str, Any], recorded: Mapping[str, Any]) -> CaseResult:
    """A check that refuses, and the Status a server makes of our answer."""

    def no_label(_: Write) -> Finding:
        return refused(recorded["message"].removeprefix(_HOOK), recorded["code"], "Forbidden")

    _, write = write_of(review, NOW)
    checks = {write.resource: KindChecks(validating=(no_label,))}
    response = asyncio.run(validated(review, _Empty(), NOW, checks))["response"]
    ours = (response["allowed"], response["status"]["code"], _HOOK + response["status"]["message"])
    wanted = (False, recorded["code"], recorded["message"])
    return CaseResult("denied", ok=ours == wanted, detail="" if ours == wanted else str(ours))
