"""The debug endpoint of OCM's scheduler, replayed against `placements/NAME/explain` of a hub with roles and users.

A request that upstream makes with a broken lister is made here while no controllers answer; upstream's access review is
a role here.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from muster.controllers.preview import world_of
from muster.hub.auth.tokens import AUTHENTICATED
from muster.hub.requests import User
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.conformance.results import CaseResult
from tests.controllers.answering import NOW, answering
from tests.hub.rest.asking import GROUP, Asker, grant, on
from tests.hub.rest.running import running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_WORDS: Final = "explanations are a subresource"
_ABSENT: Final = "explanations come from the controllers"
_IN_PROCESS: Final = "permissions are decided in process"
_NAMESPACE, _NAME = "test-ns", "test-placement"
_USERS: Final = {
    "allowed-token-0123456789": User("test-user", groups=(AUTHENTICATED, "developers")),
    "refused-token-0123456789": User("other-user", groups=(AUTHENTICATED,)),
}
_OBJECTS: Final = [
    a_set("test-set", {"clusterset": "test-set"}),
    a_binding("test-set", _NAMESPACE),
    a_cluster("cluster1", {"clusterset": "test-set"}),
]


def run_debugger(data: Any) -> Iterator[CaseResult]:
    with tempfile.TemporaryDirectory() as state, running_hub(state=Path(state), users=_USERS) as hub:
        asker = Asker(hub, Path(state))
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}
        asker.send("POST", "/api/v1/namespaces", namespace)
        saved = a_placement(_NAME, _NAMESPACE, clusterSets=["test-set"])
        asker.send("POST", f"/apis/{GROUP}/v1beta1/namespaces/{_NAMESPACE}/placements", saved)
        grant(asker, "test-user", "debugger", on("placements/explain", "get", "create", "update", "delete"))
        for case in data if isinstance(data, list) else data["cases"]:
            yield _run(asker, case)


def _run(asker: Asker, case: Mapping[str, Any]) -> CaseResult:
    expected = int(case.get("expectStatus") or case.get("expectStatusCode") or 200)
    said = case.get("errorContains") or (case.get("err") or {}).get("__error") or ""
    if "failed to check permissions" in said:
        return CaseResult(case["id"], apart=_IN_PROCESS)
    is_absent = expected == 500  # a lister of upstream's fails
    with contextlib.ExitStack() as stack:
        if not is_absent:
            stack.enter_context(answering(asker.state / "controllers.json", world_of(_OBJECTS, NOW)))
        method, path, body, headers = _request(case, said)
        code, answered, raw = asker.hub.request(method, path, body, headers)
    answer = json.loads(raw) if raw[:1] == b"{" else {}
    shown = f"{code} {answer.get('message', raw.decode()[:200])!r}"
    if is_absent:
        is_ours = code == 503 and answer["reason"] == "ServiceUnavailable" and "retry-after" in answered
        return CaseResult(case["id"], ok=is_ours, detail=shown, rule=_ABSENT)
    if expected == 200:
        is_ours = code == 200 and answer["kind"] == "PlacementExplanation" and answer["fleet"] == 1
        return CaseResult(case["id"], ok=is_ours, detail=shown)
    if code == expected and said and said in answer.get("message", ""):
        return CaseResult(case["id"])
    if "namespace and name required" in said:
        return CaseResult(case["id"], ok=code == 404, detail=shown, rule=_WORDS)
    is_ours = code == expected and answer.get("kind") == "Status" and answer["code"] == expected
    return CaseResult(case["id"], ok=is_ours, detail=shown, rule=_WORDS)


def _request(case: Mapping[str, Any], said: str) -> tuple[str, str, bytes | None, dict[str, str]]:
    """What upstream's test sends, as a client of ours would."""
    unsupported = re.fullmatch("unsupported method ([A-Z]+)", said)
    body = case.get("body")
    raw = None if body is None else (body if isinstance(body, str) else json.dumps(body)).encode()
    method = case.get("method") or ("GET" if unsupported is None else unsupported[1])
    namespace, _, name = (case.get("pathSuffix") or f"{_NAMESPACE}/{_NAME}").rpartition("/")
    place = f"namespaces/{namespace}/placements" if namespace else "placements"
    path = f"/apis/{GROUP}/v1beta1/{place}/{name}/explain"
    token = "allowed-token-0123456789"
    if "user information not found" in said:
        token = ""
    elif "does not have permission" in said:
        token = "refused-token-0123456789"
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {token}" if token else ""}
    return method, path, raw, headers
