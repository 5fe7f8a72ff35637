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

from muster.controllers.placements.preview import world_of
from muster.hub.auth.tokens import AUTHENTICATED
from muster.hub.requests import User
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.conformance.suites import PLAIN, Apart, Kind, Rule, Suite, Verdict, keys
from tests.controllers.questions.answering import NOW, answering
from tests.hub.rest.asking import GROUP, Asker, grant, on
from tests.hub.rest.running import running_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

WORDS: Final = "explanations are a subresource"
ABSENT: Final = "explanations come from the controllers"
_IN_PROCESS: Final = "permissions are decided in process"
_NAMESPACE, _NAME = "test-ns", "test-placement"
_USERS: Final = {
    "allowed-token-0123456789": User("test-user", groups=(AUTHENTICATED, "developers")),
    "refused-token-0123456789": User("other-user", groups=(AUTHENTICATED,)),
}
_CLUSTERS: Final = [a_cluster("cluster1", {"clusterset": "test-set"})]
_OBJECTS: Final = [a_set("test-set", {"clusterset": "test-set"}), a_binding("test-set", _NAMESPACE), *_CLUSTERS]


@contextlib.contextmanager
def _hub() -> Iterator[Callable[[Mapping[str, Any]], dict[str, Any]]]:
    """A hub with a placement, and a user who may ask about it."""
    with tempfile.TemporaryDirectory() as state, running_hub(state=Path(state), users=_USERS) as hub:
        asker = Asker(hub, Path(state))
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}
        asker.send("POST", "/api/v1/namespaces", namespace)
        saved = a_placement(_NAME, _NAMESPACE, clusterSets=["test-set"])
        asker.send("POST", f"/apis/{GROUP}/v1beta1/namespaces/{_NAMESPACE}/placements", saved)
        grant(asker, "test-user", "debugger", on("placements/explain", "get", "create", "update", "delete"))
        yield lambda case: _asked(asker, case)


def _asked(asker: Asker, case: Mapping[str, Any]) -> dict[str, Any]:
    with contextlib.ExitStack() as stack:
        if code_of(case) != 500:  # a lister of upstream's fails
            stack.enter_context(answering(asker.state / "controllers.json", world_of(_OBJECTS, NOW)))
        method, path, body, headers = _request(case, said_by(case))
        code, answered, raw = asker.hub.request(method, path, body, headers)
    answer = json.loads(raw) if raw[:1] == b"{" else {"message": raw.decode()[:200]}
    names = ("kind", "code", "reason", "message", "fleet")
    shown = {name: answer[name] for name in names if name in answer}
    return {"status": code, "retries": "retry-after" in answered, "answer": shown}


def code_of(case: Mapping[str, Any]) -> int:
    return int(case.get("expectStatus") or case.get("expectStatusCode") or 200)


def said_by(case: Mapping[str, Any]) -> str:
    return str(case.get("errorContains") or (case.get("err") or {}).get("__error") or "")


def classify(case: Mapping[str, Any]) -> Kind:
    if case.get("sarError") or "failed to check permissions" in said_by(case):
        return Apart(_IN_PROCESS)
    if code_of(case) == 500:
        return Rule(ABSENT)
    return PLAIN if code_of(case) in (200, 404) else Rule(WORDS)


_REASONS: Final = {
    400: "BadRequest",
    401: "Unauthorized",
    403: "Forbidden",
    404: "NotFound",
    405: "MethodNotAllowed",
    503: "ServiceUnavailable",
}
_VERBS: Final = {"GET": "get", "POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}


def judge(case: Mapping[str, Any], kind: Kind, ours: dict[str, Any]) -> Verdict:
    """Code, whether to come again, kind of the answer, its reason, and its sentence as a Kubernetes server has it."""
    code = code_of(case)
    if kind == Rule(ABSENT):
        code = 503
    elif kind == Rule(WORDS) and "namespace and name required" in said_by(case):
        code = 404  # such a path names nothing
    answer = dict(ours["answer"])
    message = answer.pop("message", "")
    wanted: dict[str, Any] = {"kind": "Status", "code": code, "reason": _REASONS.get(code)}
    if code == 200:
        wanted = {"kind": "PlacementExplanation", "fleet": len(_CLUSTERS)}
    found = [
        f"{name}: {got!r} instead of {expected!r}"
        for name, got, expected in (
            ("status", ours["status"], code),
            ("retries", ours["retries"], code == 503),
            ("answer", answer, wanted),
        )
        if got != expected
    ]
    sentence = _sentence(case, kind, code)
    if sentence not in message or (not sentence and code != 200 and not message):
        found.append(f"message: {message!r} instead of {sentence!r}")
    return Verdict(tuple(found))


def _sentence(case: Mapping[str, Any], kind: Kind, code: int) -> str:
    """What the answer says: upstream's words where there is no rule."""
    if not isinstance(kind, Rule):
        return said_by(case)
    method, _, _, _ = _request(case, said_by(case))
    verb = _VERBS[method]
    match code:
        case 401:
            return "Unauthorized"
        case 403:
            return (
                f'placements.{GROUP} "{_NAME}" is forbidden: User "other-user" cannot {verb} resource'
                f' "placements/explain" in API group "{GROUP}" in the namespace "{_NAMESPACE}"'
            )
        case 405:
            return f'{verb} is not supported on resources of kind "placements/explain.{GROUP}"'
        case 503:
            return "the hub's controllers, which explain placements, do not answer"
        case _:
            return ""


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


DEBUGGER: Final = Suite(
    cases=lambda data: data if isinstance(data, list) else data["cases"],
    name=lambda case: str(case["id"]),
    classify=classify,
    running=_hub,
    judge=judge,
    shape=keys(
        "id table source errorContains expectStatus method name pathSuffix expectError expectStatusCode injectUser"
        " sarAllowed body sarError err note"
    ),
)
