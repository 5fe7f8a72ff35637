"""Replays the recorded requests and watches of a real kube-apiserver against the hub over HTTP, in their order.

The recording holds requests and answers, not what the recorder did in between to prepare them; WRITES states that, read
off the answers. Every answer is compared whole: code, content type, warnings, headers and body.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from muster.admission import Settings as AdmissionSettings
from muster.hub.access import AccessSettings
from muster.hub.requests import User
from tests.conformance.kube.replay import CUT, Identities, difference, masked, parse_cut
from tests.conformance.suites import PLAIN, Apart, Kind, Rule, Suite, Verdict, keys
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

OCM = "cluster.open-cluster-management.io"
CLUSTERS = f"/apis/{OCM}/v1/managedclusters"
MERGE = "application/merge-patch+json"
# The recorder's client; without a field manager its name owns the fields.
USER_AGENT = "python-httpx/0.28.1"
_USERS = {"alicetoken": User("alice", "2", ("devs", "system:authenticated"))}
_SERVED_GROUPS = re.compile(
    r"/apis/(?:cluster\.open-cluster-management\.io|clusters\.openmcp\.cloud|(?:authorization|authentication|certificates|events)\.k8s\.io"
    r"|rbac\.authorization\.k8s\.io|nope\.example\.com)(?:/|$|\?)"
)


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    warnings: Sequence[str]
    body: bytes


@dataclass(frozen=True)
class Write:
    """A write of the recorder that the recording does not hold. `after` is in seconds from the start of a watch."""

    method: str
    path: str
    body: Any = None
    content_type: str = "application/json"
    after: float = 0.0


@dataclass
class Client:
    """Sends requests to the hub as the recorder did."""

    hub: RunningHub
    tokens: dict[str, str] = field(default_factory=dict)

    def connect(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection(self.hub.host, self.hub.port, timeout=30)

    def headers(self, request: Mapping[str, Any]) -> dict[str, str]:
        headers = {"User-Agent": USER_AGENT}
        token = request.get("token", "admintoken")
        if token is not None:
            known = self.hub.token if token == "admintoken" else token
            headers["Authorization"] = f"Bearer {known}"
        if request.get("accept"):
            headers["Accept"] = request["accept"]
        if request.get("contentType"):
            headers["Content-Type"] = request["contentType"]
        if request.get("impersonate"):
            headers["Impersonate-User"] = request["impersonate"]
        return headers

    def send(self, request: Mapping[str, Any], path: str, body: bytes | None) -> Reply:
        connection = self.connect()
        try:
            connection.request(request["method"], path, body=body, headers=self.headers(request))
            answer = connection.getresponse()
            content = answer.read()
            warnings = answer.headers.get_all("Warning") or []
            return Reply(answer.status, {k.lower(): v for k, v in answer.headers.items()}, warnings, content)
        finally:
            connection.close()

    def write(self, write: Write) -> None:
        body = None if write.body is None else json.dumps(write.body).encode()
        reply = self.send({"method": write.method, "contentType": write.content_type}, write.path, body)
        if reply.status >= 400:
            raise AssertionError(f"{write.method} {write.path}: {reply.status} {reply.body.decode()}")


def cluster(name: str, labels: Mapping[str, str] | None = None, **metadata: Any) -> dict[str, Any]:
    meta = {"name": name, **metadata} | ({"labels": labels} if labels else {})
    return {"apiVersion": f"{OCM}/v1", "kind": "ManagedCluster", "metadata": meta, "spec": {"hubAcceptsClient": True}}


def created(name: str, labels: Mapping[str, str] | None = None, after: float = 0.0, **metadata: Any) -> Write:
    return Write("POST", CLUSTERS, cluster(name, labels, **metadata), after=after)


def labelled(name: str, after: float = 0.0, **labels: str) -> Write:
    return Write("PATCH", f"{CLUSTERS}/{name}", {"metadata": {"labels": labels}}, MERGE, after)


# What the recorder wrote before a request, or while a watch ran.
WRITES: Mapping[str, Sequence[Write]] = {
    "list-limit": [created(f"l{n}", {"grp": "l", "i": str(n)}) for n in range(7)],
    "watch-norv": [created("w1", {"g": "a"}), created("w2", {"g": "b"}), labelled("w1", 0.5, z="1")],
    "watch-rvN": [
        created("w3", after=0.5),
        Write("PATCH", f"{CLUSTERS}/w3", {"spec": {"leaseDurationSeconds": 61}}, MERGE, 0.6),
        Write("DELETE", f"{CLUSTERS}/w3", after=0.7),
    ],
    "watch-label-transition": [
        labelled("w1", 0.5, g="b"),
        labelled("w1", 0.6, q="1"),
        labelled("w1", 0.7, g="a"),
        labelled("w2", 0.8, g="a"),
    ],
    "watch-table": [labelled("w1", 0.5, t="1")],
    "watch-finalizer-delete": [
        created("wf", after=0.5, finalizers=["a.b/c"]),
        Write("DELETE", f"{CLUSTERS}/wf", after=0.6),
        Write("PATCH", f"{CLUSTERS}/wf", {"metadata": {"finalizers": None}}, MERGE, 0.7),
    ],
    "watch-noop-no-event": [labelled("w2", 0.5, g="a")],
    "watch-bookmark-long": [
        *(labelled("w1", k=str(n)) for n in range(5)),
        # Other kinds changed while this watch ran; a bookmark tells of the revision they reached.
        Write(
            "POST",
            "/api/v1/namespaces/default/configmaps",
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}},
            after=0.5,
        ),
    ],
}
# Before these the recording's server had compacted its history.
_COMPACTED = ("watch-rv1-old", "list-exact-compacted-410", "list-continue-compacted-410", "list-exact-rv1-410")


# --- Rules: deliberate differences, each a heading of docs/differences.md ------------------------------------------


def _own_version(row: Mapping[str, Any], reply: Reply) -> bool:
    recorded, ours = row["response"]["body"], json.loads(reply.body)
    return row["request"]["path"] == "/version" and set(recorded) == set(ours) and ours["major"] == recorded["major"]


def _own_texts(row: Mapping[str, Any], reply: Reply) -> bool:
    """Our OpenAPI documents have the same operations; titles, descriptions and examples are ours."""
    if not row["request"]["path"].startswith("/openapi/v3/"):
        return False
    path = f"/apis/{row['request']['path'].removeprefix('/openapi/v3/apis/')}/managedclusters"
    collection = json.loads(reply.body)["paths"][path]
    return reply.status == 200 and {"get", "post", "delete"} <= set(collection)


def _more_versions(row: Mapping[str, Any], reply: Reply) -> bool:
    """ManagedClusterSet is served in two older versions as well; of what is recorded, all that we serve is the same.

    Subresources that our own kinds answer come on top.
    """
    if row["request"]["path"] != "/apis" or "APIGroupDiscoveryList" not in row["request"]["accept"]:
        return False

    def kinds(body: Any) -> dict[tuple[str, str, str], Any]:
        return {
            (group["metadata"]["name"], kind["resource"], version["version"]): kind
            | {"subresources": [each for each in kind.get("subresources", ()) if not _is_own(each)]}
            for group in body["items"]
            for version in group["versions"]
            for kind in version["resources"]
        }

    recorded, ours = kinds(row["response"]["body"]), kinds(json.loads(reply.body))
    served = {key[:2] for key in ours}
    wanted = {key: kind for key, kind in recorded.items() if key[:2] in served}
    groups = {key[0] for key in recorded}
    more = {key[1] for key in ours if key[0] in groups and key not in recorded}
    return (
        bool(wanted) and more == {"managedclustersets"} and all(ours.get(key) == kind for key, kind in wanted.items())
    )


def _is_own(subresource: Mapping[str, Any]) -> bool:
    return bool(subresource["responseKind"]["group"].endswith("muster.dev"))


def _taint_times(row: Mapping[str, Any], reply: Reply) -> bool:
    """The recorded server had no hooks; ours sets the time of every taint, as OCM's do. Nothing else differs."""

    def without_times(value: Any) -> Any:
        if isinstance(value, dict):
            timed = "effect" in value and "key" in value
            return {key: without_times(item) for key, item in value.items() if not (timed and key == "timeAdded")}
        return [without_times(item) for item in value] if isinstance(value, list) else value

    recorded, ours = _comparable(row["response"]), _comparable_reply(reply, row["response"])
    return not difference(masked(without_times(recorded)), masked(without_times(ours)))


TAINT_TIMES = "The server sets the time of a taint"
RULES: Mapping[str, Callable[[Mapping[str, Any], Reply], bool]] = {
    TAINT_TIMES: _taint_times,
    "The hub's own version": _own_version,
    "OpenAPI texts are ours": _own_texts,
    "Older versions of ManagedClusterSet": _more_versions,
}


def _apart(row: Mapping[str, Any]) -> str | None:
    """Why a row is out of scope here."""
    request = row["request"]
    path = request["path"]
    aggregated = "APIGroup" in (request.get("accept") or "")
    if path == "/" or (path == "/api" and aggregated) or (path == "/apis" and not aggregated):
        return "lists kinds we do not serve"
    if path.startswith("/apis/") and not _SERVED_GROUPS.match(path):
        return "kinds we do not serve"
    return None


# --- golden_api.json -----------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _replaying() -> Iterator[Callable[[Mapping[str, Any]], Answer]]:
    with tempfile.TemporaryDirectory() as folder, _guarded_hub(Path(folder)) as hub:
        client = Client(hub)
        known = Identities()

        def run(row: Mapping[str, Any]) -> Answer:
            for write in WRITES.get(row["id"], ()):
                client.write(write)
            return _replayed(row, client, known)

        yield run


@dataclass(frozen=True)
class Answer:
    """The recorded answer and ours, in a form in which they can be compared; and ours as it came."""

    recorded: dict[str, Any]
    ours: dict[str, Any]
    reply: Reply


def classify_api(row: Mapping[str, Any]) -> Kind:
    """By what is asked: rules are about certain documents, and about taints that are written or read."""
    if (apart := _apart(row)) is not None:
        return Apart(apart)
    request = row["request"]
    path = request["path"]
    if path == "/version":
        return Rule("The hub's own version")
    if path.startswith("/openapi/v3/apis/"):
        return Rule("OpenAPI texts are ours")
    if path == "/apis" and "APIGroupDiscoveryList" in (request.get("accept") or ""):
        return Rule("Older versions of ManagedClusterSet")
    return Rule(TAINT_TIMES) if _has_untimed_taint(row["response"].get("body")) else PLAIN


def _has_untimed_taint(value: Any) -> bool:
    """Whether an answer shows a taint without the time that a server with hooks gives it."""
    if isinstance(value, dict):
        if {"key", "effect"} <= value.keys() and "operator" not in value and value.get("timeAdded") is None:
            return True
        return any(_has_untimed_taint(item) for name, item in value.items() if name != "managedFields")
    return isinstance(value, list) and any(map(_has_untimed_taint, value))


def judge_api(row: Mapping[str, Any], kind: Kind, answer: Answer) -> Verdict:
    if isinstance(kind, Rule):
        # What the rule does not speak of is compared as usual: code, content type, warnings and headers.
        head = [
            f"{name}: {answer.ours[name]!r} instead of {answer.recorded[name]!r}"
            for name in ("status", "contentType", "warning", "headers")
            if masked(answer.ours[name]) != masked(answer.recorded[name])
        ]
        holds = RULES[kind.name](row, answer.reply)
        return Verdict(tuple(head) if holds else (*head, difference(masked(answer.recorded), masked(answer.ours))))
    found = difference(masked(answer.recorded), masked(answer.ours))
    return Verdict((found,) if found else ())


API = Suite(
    cases=lambda data: data["transcripts"],
    name=lambda row: str(row["id"]),
    classify=classify_api,
    running=_replaying,
    judge=judge_api,
    shape=keys("id request response note"),
)


def _guarded_hub(folder: Path) -> contextlib.AbstractContextManager[RunningHub]:
    """As the recorder's server was: roles, its users, requests without credentials allowed, no hook that labels."""
    settings = AccessSettings(anonymous=True, admission=AdmissionSettings(default_cluster_set=False))
    return running_hub(folder / "hub.db", state=folder, users=_USERS, access_settings=settings)


def _acting(row: Mapping[str, Any]) -> dict[str, Any]:
    """The request, with the header that the recorder sent to act as bob; the recording holds no such headers."""
    return {**row["request"], **({"impersonate": "bob"} if row["id"].startswith("impersonate") else {})}


def _replayed(row: Mapping[str, Any], client: Client, known: Identities) -> Answer:
    request = _acting(row)
    reply = client.send(request, known.path(request["path"]), _body(request, known))
    recorded, ours = _comparable(row["response"]), _comparable_reply(reply, row["response"])
    if row.get("note") == "filtered":
        kept = recorded["body"]["paths"]
        ours["body"]["paths"] = {name: entry for name, entry in ours["body"]["paths"].items() if name in kept}
    known.learn(recorded.get("body"), ours.get("body"))
    return Answer(recorded, ours, reply)


def _body(request: Mapping[str, Any], known: Identities) -> bytes | None:
    body = request.get("body")
    if body is None:
        return None
    if isinstance(body, str):
        return body.encode()
    # The recorder's own spacing: the real server quotes bodies in messages.
    return json.dumps(known.translated(body)).encode()


def _comparable(response: Mapping[str, Any]) -> dict[str, Any]:
    body = response.get("body")
    if isinstance(body, str):
        if body.endswith(CUT):
            body = parse_cut(body)
        elif response.get("contentType") == "application/yaml":
            body = yaml.safe_load(body)
    found = {
        "status": response["status"],
        "contentType": response.get("contentType"),
        "warning": response.get("warning") or [],
        "body": body,
    }
    headers = dict(response.get("headers", {}))
    if "etag" in headers:
        headers["etag"] = "<etag>"
    return found | {"headers": headers}


def _comparable_reply(reply: Reply, response: Mapping[str, Any]) -> dict[str, Any]:
    content_type = reply.headers.get("content-type", "")
    body: Any = reply.body.decode("utf-8", "replace")
    if content_type.startswith("application/json") or (reply.status == 200 and reply.body[:1] == b"{"):
        body = json.loads(reply.body) if reply.body else ""
    elif content_type == "application/yaml":
        body = yaml.safe_load(reply.body)
    wanted = response.get("headers", {})
    headers = {name: reply.headers[name] for name in wanted if name in reply.headers}
    if "etag" in headers:
        headers["etag"] = "<etag>"
    return {
        "status": reply.status,
        "contentType": content_type if response.get("contentType") else None,
        "warning": list(reply.warnings),
        "body": body,
        "headers": headers,
    }


# --- golden_watch.json ---------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _watching() -> Iterator[Callable[[Mapping[str, Any]], str]]:
    with tempfile.TemporaryDirectory() as folder, running_hub(Path(folder) / "hub.db") as hub:
        client = Client(hub)
        known = Identities()
        first = hub.revision

        def run(row: Mapping[str, Any]) -> str:
            if row["id"] in _COMPACTED:
                hub.compact()
                known.revisions["300"] = str(first)
            elif "compacted" in row["id"]:
                known.revisions["339"] = str(hub.revision)
            return _watched(row, client, known)

        yield run


WATCH = Suite(
    cases=lambda data: data["transcripts"],
    name=lambda row: str(row["id"]),
    classify=lambda _: PLAIN,
    running=_watching,
    judge=lambda _, __, found: Verdict((found,) if found else ()),
    shape=keys("id path accept response elapsed events times note body"),
)


def _watched(row: Mapping[str, Any], client: Client, known: Identities) -> str:
    """Where the answer differs; empty when it does not."""
    writes = WRITES.get(row["id"], ())
    for write in writes:
        if not write.after:
            client.write(write)
    path = _shortened(known.path(row["path"]))
    later = threading.Thread(target=_write_later, args=(client, [write for write in writes if write.after]))
    later.start()
    reply = client.send({"method": "GET", "accept": row.get("accept")}, path, None)
    later.join()
    if "events" in row and row["response"].get("te") == "chunked":
        recorded: Any = row["events"]
        ours: Any = [json.loads(line) for line in reply.body.splitlines()]
    elif "events" in row:
        recorded, ours = row["events"], [json.loads(reply.body)]
    else:
        recorded, ours = row.get("body"), reply.body.decode()
        if isinstance(recorded, str):
            recorded = [json.loads(line) for line in recorded.splitlines()]
            ours = [json.loads(line) for line in ours.splitlines()]
        else:
            ours = json.loads(ours)
    if path != known.path(row["path"]):
        recorded = _once(recorded)
    if row.get("response", {}).get("te") == "chunked":
        ours = _without_managed_fields(ours)
        recorded = _without_managed_fields(recorded)
    head = {"status": row["response"]["status"]}
    ours_head: dict[str, Any] = {"status": reply.status}
    if row["response"].get("ct"):
        head["ct"] = row["response"]["ct"]
        ours_head["ct"] = reply.headers.get("content-type", "")
    if row["response"].get("te"):
        head["te"] = row["response"]["te"]
        ours_head["te"] = reply.headers.get("transfer-encoding")
    found = difference(head, ours_head)
    known.learn(recorded, ours)
    # Bookmarks that end no initial events come when the server likes; their number and moment mean nothing.
    return found or difference(masked(_without_bookmarks(recorded)), masked(_without_bookmarks(ours)))


def _shortened(path: str) -> str:
    """The one long watch waits for bookmarks, which come shortly before the end as well."""
    return re.sub(r"timeoutSeconds=\d\d+", "timeoutSeconds=4", path)


def _once(events: Sequence[Any]) -> list[Any]:
    """The bookmarks of a shortened watch: one shortly before the end, none for the minutes before."""
    return [event for index, event in enumerate(events) if index == 0 or event != events[index - 1]]


def _write_later(client: Client, writes: Sequence[Write]) -> None:
    started = time.monotonic()
    for write in writes:
        time.sleep(max(0.0, started + write.after - time.monotonic()))
        client.write(write)


def _without_managed_fields(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_managed_fields(item) for key, item in value.items() if key != "managedFields"}
    if isinstance(value, list):
        return [_without_managed_fields(item) for item in value]
    return value


def _without_bookmarks(events: Any) -> Any:
    if not isinstance(events, list):
        return events
    return [
        event for event in events if event.get("type") != "BOOKMARK" or "annotations" in event["object"]["metadata"]
    ]
