"""The reader of recorded exchanges: requests and answers of a real kube-apiserver, replayed over HTTP against the hub.

A file holds transcripts; a transcript belongs to a group, and every group stands alone, so that each is replayed
against a hub of its own. Beside request and response a transcript may have
  poll        the request was repeated until it gave this answer
  keep        the recorded body was cut by these rules; ours is cut likewise before the two are compared
  shape       values are the server's own: only names and types are compared
  events      what a bounded watch sent, instead of a body
  bodyBase64  a protobuf body, of the request or of the response
Answers are compared whole: status, content type, warnings, headers and body. What differs between two runs of the same
server is masked (`replay`). `run_exchanges` is a runner; a file's module gives it rules and what is out of scope.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import re
import tempfile
import time
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from muster.admission import Settings as AdmissionSettings
from muster.hub.access import AccessSettings
from muster.hub.requests import User
from muster.hub.rest.protobuf import InvalidProtobufError, decode, open_envelope
from muster.hub.rest.protobuf_kinds import KINDS
from tests.conformance.kube.replay import Identities, difference, masked
from tests.conformance.results import CaseResult
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from muster.hub.storage import Key

    Transcript = Mapping[str, Any]
    # Whether our answer is what the rule of this name expects, given the transcript.
    Rule = Callable[[Transcript, "Answered"], bool]

USER_AGENT: Final = "python-httpx/0.28.1"  # the recorder's client; without a field manager its name owns the fields
USERS: Final = {
    "admintoken": User("admin", "admin", ("system:masters", "system:authenticated")),
    "alicetoken": User("alice", "2", ("devs", "system:authenticated")),
}
_PATIENCE: Final = 10.0  # seconds that a polled answer may take
_PAUSE: Final = 0.05
_QUOTED_REVISION: Final = re.compile(r'(\\*"resourceVersion\\*": ?\\*")\d+')


@dataclass(frozen=True)
class Answered:
    """What the hub answered. `body` is decoded; `events` are those of a watch."""

    status: int
    content_type: str | None
    warnings: Sequence[str]
    headers: Mapping[str, str]
    body: Any
    events: Sequence[Any] | None = None


@dataclass
class _Client:
    """Sends recorded requests to one hub, in its terms."""

    hub: RunningHub
    known: Identities = field(default_factory=Identities)

    def send(self, transcript: Transcript) -> Answered:
        request = transcript["request"]
        connection = http.client.HTTPConnection(self.hub.host, self.hub.port, timeout=30)
        try:
            path = self.known.path(request["path"])
            connection.request(request["method"], path, body=self._body(transcript), headers=_headers(request))
            answer = connection.getresponse()
            content = answer.read()
            headers = {name.lower(): value for name, value in answer.headers.items()}
            content_type = headers.get("content-type")
            watching = transcript.get("events") is not None and answer.status == 200
            return Answered(
                answer.status,
                content_type,
                answer.headers.get_all("Warning") or [],
                headers,
                None if watching else _decoded(content_type, content),
                [json.loads(line) for line in content.splitlines()] if watching else None,
            )
        finally:
            connection.close()

    def _body(self, transcript: Transcript) -> bytes | None:
        request = transcript["request"]
        if "bodyBase64" in request:
            return base64.b64decode(request["bodyBase64"])
        body = request.get("body")
        if body is None:
            return None
        # The recorder's own spacing: the real server quotes bodies in messages.
        return body.encode() if isinstance(body, str) else json.dumps(self.known.translated(body)).encode()


class _NobodyCleans:
    """The recorded server had no namespace controller: what terminates stays."""

    def namespace_deleted(self, name: str) -> None: ...

    def object_removed(self, key: Key) -> None: ...

    async def close(self) -> None: ...


def run_exchanges(
    data: Any,
    *,
    rules: Mapping[str, Rule] | None = None,
    apart: Callable[[Transcript], str | None] = lambda _: None,
) -> Iterator[CaseResult]:
    """Replay a file. `rules` are differences on purpose by their heading in docs/differences.md; `apart` says why a
    transcript is out of scope, decided before anything is sent."""
    for group in _groups(data["transcripts"]):
        with _recorded_hub() as hub:
            client = _Client(hub)
            for transcript in group:
                why = apart(transcript)
                yield (
                    CaseResult(transcript["id"], apart=why)
                    if why is not None
                    else _replayed(transcript, client, rules or {})
                )


def _groups(transcripts: Sequence[Transcript]) -> Iterator[list[Transcript]]:
    found: dict[str, list[Transcript]] = {}
    for transcript in transcripts:
        found.setdefault(transcript.get("group", ""), []).append(transcript)
    yield from found.values()


@contextlib.contextmanager
def _recorded_hub() -> Iterator[RunningHub]:
    """As the recorder's server was: roles and users, anonymous requests, no controllers, no hook that labels."""
    settings = AccessSettings(anonymous=True, admission=AdmissionSettings(default_cluster_set=False))
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder)
        with running_hub(
            state / "hub.db", state=state, users=USERS, access_settings=settings, cleaner=_NobodyCleans()
        ) as hub:
            yield hub


def _replayed(transcript: Transcript, client: _Client, rules: Mapping[str, Rule]) -> CaseResult:
    deadline = time.monotonic() + (_PATIENCE if transcript.get("poll") else 0.0)
    while True:
        answered = client.send(transcript)
        found = _difference(transcript, answered, client.known)
        if not found or time.monotonic() >= deadline:
            break
        if _rule(transcript, answered, rules) is not None:
            break
        time.sleep(_PAUSE)
    rule = _rule(transcript, answered, rules) if found else None
    if rule is not None:
        return CaseResult(transcript["id"], rule=rule)
    return CaseResult(transcript["id"], ok=not found, detail=found)


def _rule(transcript: Transcript, answered: Answered, rules: Mapping[str, Rule]) -> str | None:
    for name, holds in rules.items():
        with contextlib.suppress(KeyError, TypeError, ValueError, AttributeError):
            if holds(transcript, answered):
                return name
    return None


def _difference(transcript: Transcript, answered: Answered, known: Identities) -> str:
    recorded, ours = _recorded(transcript), _ours(transcript, answered)
    known.learn(recorded, ours)
    if transcript.get("shape"):
        recorded["body"], ours["body"] = shape(recorded["body"]), shape(ours["body"])
    return difference(_masked(recorded), _masked(ours))


def same_but_for(transcript: Transcript, answered: Answered, change: Callable[[Any], Any]) -> bool:
    """Whether the answers agree once `change` has been made to both bodies: what a rule is about, and nothing else."""
    recorded, ours = _recorded(transcript), _ours(transcript, answered)
    recorded["body"], ours["body"] = change(recorded["body"]), change(ours["body"])
    return not difference(_masked(recorded), _masked(ours))


def _recorded(transcript: Transcript) -> dict[str, Any]:
    response = transcript["response"]
    content_type = response.get("contentType")
    body = response.get("body")
    if "bodyBase64" in response:
        body = _decoded(content_type, base64.b64decode(response["bodyBase64"]))
    elif isinstance(body, str):
        body = _decoded(content_type, body.encode())
    return {
        "status": response["status"],
        "contentType": content_type,
        "warning": response.get("warning") or [],
        "headers": _without_hashes(response.get("headers") or {}),
        "body": body,
        "events": transcript.get("events"),
    }


def _ours(transcript: Transcript, answered: Answered) -> dict[str, Any]:
    response = transcript["response"]
    wanted = response.get("headers") or {}
    unknown_body = response.get("body") is None and "bodyBase64" not in response  # the recording left it out
    events = answered.events
    if events is not None and not any(event["type"] == "BOOKMARK" for event in transcript["events"]):
        events = [event for event in events if event["type"] != "BOOKMARK"]  # these come when the server likes
    return {
        "status": answered.status,
        "contentType": answered.content_type,
        "warning": list(answered.warnings),
        "headers": _without_hashes({name: answered.headers[name] for name in wanted if name in answered.headers}),
        "body": None if unknown_body else kept(answered.body, transcript.get("keep") or ()),
        "events": events,
    }


def _without_hashes(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: "<etag>" if name == "etag" else value for name, value in headers.items()}


def _headers(request: Mapping[str, Any]) -> dict[str, str]:
    headers = {"User-Agent": USER_AGENT}
    if request.get("token"):
        headers["Authorization"] = f"Bearer {request['token']}"
    for name, key in (("Accept", "accept"), ("Content-Type", "contentType"), ("Impersonate-User", "impersonate")):
        if request.get(key):
            headers[name] = request[key]
    return headers


def _decoded(content_type: str | None, content: bytes) -> Any:
    """A body as a value, where its type or its text says how."""
    if content_type and "protobuf" in content_type:
        return _message(content)
    text = content.decode("utf-8", "replace")
    if content_type and content_type.startswith("application/yaml"):
        return yaml.safe_load(text)
    if text.startswith(("{", "[")):
        with contextlib.suppress(ValueError):
            return json.loads(text)
    return text


def _message(content: bytes) -> Any:
    """A protobuf message by the field numbers of its kind; its bytes if it is no object of a kind we know."""
    try:
        envelope = open_envelope(content)
        group, _, _ = envelope.api_version.rpartition("/")
        fields = decode(envelope.raw, KINDS[group, envelope.kind])
    except (InvalidProtobufError, KeyError):
        return content.hex()
    return {"apiVersion": envelope.api_version, "kind": envelope.kind, **fields}


def kept(body: Any, rules: Sequence[Sequence[Any]]) -> Any:
    """A body cut by the rules of the recorder."""
    for rule in rules:
        match rule:
            case ["items", path, name, values]:
                body = _replaced(body, path, partial(_items, name, values))
            case ["keys", path, names]:
                body = _replaced(body, path, partial(_keys, names.__contains__))
            case ["contains", path, text]:
                body = _replaced(body, path, partial(_keys, partial(_has, text)))
            case ["drop", path]:
                body = _replaced(body, path[:-1], partial(_keys, path[-1].__ne__))
            case _:
                raise ValueError(f"a rule that this reader does not know: {rule}")
    return body


def _items(name: Sequence[str], values: Sequence[Any], items: Any) -> Any:
    return [item for item in items if _at(item, name) in values]


def _keys(wanted: Callable[[str], bool], value: Any) -> Any:
    return {name: item for name, item in value.items() if wanted(name)}


def _has(part: str, name: str) -> bool:
    return part in name


def _at(value: Any, path: str | Sequence[str]) -> Any:
    for name in (path,) if isinstance(path, str) else path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _replaced(value: Any, path: Sequence[str], change: Callable[[Any], Any]) -> Any:
    """The value with the part at the path changed; as it is when there is no such part."""
    if not path:
        return change(value) if isinstance(value, (dict, list)) else value
    if not isinstance(value, dict) or path[0] not in value:
        return value
    return {**value, path[0]: _replaced(value[path[0]], path[1:], change)}


def shape(value: Any) -> Any:
    """Names and types without values. A list is the forms that its items have."""
    if isinstance(value, dict):
        return {name: shape(item) for name, item in value.items()}
    if isinstance(value, list):
        forms: list[Any] = []
        for item in map(shape, value):
            if item not in forms:
                forms.append(item)
        return forms
    return type(value).__name__


def _masked(value: Any) -> Any:
    """As `masked`, and revisions inside the objects that messages quote."""
    if isinstance(value, dict):
        plain = masked(value)
        return {name: _quoted(item) for name, item in plain.items()}
    return _quoted(masked(value))


def _quoted(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _quoted(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_quoted(item) for item in value]
    return _QUOTED_REVISION.sub(r"\1<revision>", value) if isinstance(value, str) else value
