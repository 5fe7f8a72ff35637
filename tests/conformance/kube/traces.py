"""Replays what kubectl sends for each of its commands against the hub, in the order of the recording.

The recording has requests, codes and the beginning of bodies, made with a stub in place of a server: what is compared
is the code, and that the answer has the form that the request asked for. Revisions are the hub's own.
"""

from __future__ import annotations

import json
import re
import tempfile
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

from tests.conformance.suites import PLAIN, Apart, Kind, Suite, Verdict
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_REQUEST = re.compile(
    r"^    (?P<method>[A-Z]+) (?P<path>/\S*) -> (?P<code>\d+) \| Accept: (?P<accept>.*?)"
    r"(?: \| CT: (?P<type>\S+))?(?:\s+\| body: (?P<body>.*))?\s*$"
)
_PROTOBUF = "application/vnd.kubernetes.protobuf"
_WATCHED = "1"  # seconds: nothing is to come


@dataclass(frozen=True)
class Sent:
    """A request as kubectl sent it, and the code of the answer."""

    command: str
    method: str
    path: str
    code: int
    accept: str
    content_type: str = ""
    body: str = ""


@contextmanager
def _hub() -> Iterator[Callable[[Replayed], str]]:
    with tempfile.TemporaryDirectory() as state, running_hub(state=Path(state)) as hub:
        yield lambda case: _difference(hub, case.sent, _body(hub, case.sent, case.whole))


@dataclass(frozen=True)
class Replayed:
    """A request by its number, with the bodies that other commands send whole."""

    number: int
    sent: Sent
    whole: list[str]


def _cases(data: Any) -> list[Replayed]:
    requests = list(_requests(data))
    if not requests:
        raise ValueError("no request was found in the recording")
    whole = [each.body for each in requests if each.method != "PUT" and _is_whole(each.body) and '"kind"' in each.body]
    return [Replayed(number, each, whole) for number, each in enumerate(requests)]


def _classify(case: Replayed) -> Kind:
    return Apart("a binary body is not in the recording") if case.sent.content_type == _PROTOBUF else PLAIN


TRACES = Suite(
    cases=_cases,
    name=lambda case: f"{case.number:03} {case.sent.command}: {case.sent.method} {case.sent.path[:80]}",
    classify=_classify,
    running=_hub,
    judge=lambda _, __, found: Verdict((found,) if found else ()),
)


def _requests(text: str) -> Iterator[Sent]:
    command = ""
    for line in text.splitlines():
        if line.startswith("### "):
            command = line[4:].strip()
        elif found := _REQUEST.match(line):
            method, path, code, accept, content_type, body = found.groups()
            whole = (body or "").removesuffix("\\n")
            yield Sent(command, method, path, int(code), accept.strip(), content_type or "", whole)


def _is_whole(body: str) -> bool:
    try:
        json.loads(body)
    except ValueError:
        return False
    return True


def _body(hub: RunningHub, sent: Sent, whole: list[str]) -> bytes | None:
    """What to send. A body that was cut off is an object that another command sends whole."""
    if not sent.body:
        return None
    if not _is_whole(sent.body):
        return next(each for each in whole if each[:90] == sent.body[:90]).encode()
    given = json.loads(sent.body)
    if "resourceVersion" in given.get("metadata", {}):
        _, _, present = hub.request("GET", sent.path.partition("?")[0])
        given["metadata"]["resourceVersion"] = json.loads(present)["metadata"]["resourceVersion"]
    return json.dumps(given).encode()


def _path(hub: RunningHub, sent: Sent) -> str:
    """With our revisions, without the stub's hashes, and with watches that end soon."""
    path, _, query = sent.path.partition("?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    given.pop("hash", None)
    if given.get("watch"):
        given |= {"resourceVersion": str(hub.revision), "timeoutSeconds": _WATCHED}
    return f"{path}?{urlencode(given)}" if given else path


def _difference(hub: RunningHub, sent: Sent, body: bytes | None) -> str:
    headers = {"Accept": sent.accept, **({"Content-Type": sent.content_type} if sent.content_type else {})}
    code, answered, answer = hub.request(sent.method, _path(hub, sent), body, headers)
    if code != sent.code:
        return f"{code} instead of {sent.code}: {answer[:200]!r}"
    wanted = _wanted_kind(sent)
    if code < 300 and wanted and "watch=true" not in sent.path:
        kind = _kind(answered, answer)
        return "" if kind == wanted else f"{kind} instead of {wanted}"
    return ""


def _wanted_kind(sent: Sent) -> str:
    """The form that the client likes best, where it likes one."""
    found = re.search(r"as=(\w+)", sent.accept.partition(",")[0])
    return found[1] if found else ""


def _kind(headers: dict[str, str], answer: bytes) -> Any:
    return json.loads(answer).get("kind") if "json" in headers.get("content-type", "") else headers.get("content-type")
