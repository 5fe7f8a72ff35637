"""Every step of the stories of cluster sets, tried by every user: the stories' users succeed, all others are refused.

`muster clusterset why` foretells each verdict.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import ssl
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import pytest
import yaml

from muster.cli.clusterset.reviews import move_of
from muster.cli.inputs.askers import Asked, ask
from tests.e2e.sets_stage import DEFAULT_KEY, GROUP, a_cluster, a_set, a_stage, example
from tests.e2e.test_kubectl import KUBECTL

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]
_CLUSTERS: Final = f"/apis/{GROUP}/v1/managedclusters"
_SETS: Final = f"/apis/{GROUP}/v1alpha1/managedclustersets"
_NOBODY: Final[frozenset[str]] = frozenset()
_APAC, _BACKUP, _MIDDLEWARE = "region=apac", "clusterAttribute=backup", "middlewareAttribute=middlewareenabled"
_SET_OF: Final = {"region": "apac", "middlewareAttribute": "middlewareenabled"}
_MEMBERS: Final[Mapping[str, dict[str, str]]] = {
    "mc1": {"region": "apac", "middlewareAttribute": "middlewareenabled"},
    "mc2": {"middlewareAttribute": "middlewareenabled"},
}


@dataclass(frozen=True, slots=True)
class Step:
    """Something that users try with a cluster or a set, and who succeeds."""

    verb: str
    name: str
    detail: str
    allowed: frozenset[str]

    def __str__(self) -> str:
        return f"{self.verb} {self.name} {self.detail}".strip()

    @property
    def labels_before(self) -> dict[str, str] | None:
        """Those of the cluster that the step is about; None if it is not there yet."""
        if self.verb == "label":
            return {}
        return _MEMBERS[self.name] if self.verb in ("unlabel", "delete") else None

    @property
    def moves_to(self) -> str | None:
        """The set that the step is into or out of."""
        key, _, value = self.detail.partition("=")
        wanted = _SET_OF.get(key)
        return wanted if self.verb in ("label", "unlabel") and value in ("", wanted) else None

    @property
    def request(self) -> tuple[str, str, str]:
        key, _, value = self.detail.partition("=")
        match self.verb:
            case "create":
                return "POST", _CLUSTERS, a_cluster(self.name, **({key: value} if key else {}))
            case "create set":
                return "POST", _SETS, a_set(self.name, **({"exclusiveKey": key} if key else {}))
            case "delete":
                return "DELETE", f"{_CLUSTERS}/{self.name}", ""
            case _:
                labels = {key: value or None}
                return "PATCH", f"{_CLUSTERS}/{self.name}", json.dumps({"metadata": {"labels": labels}})


def by(*users: str) -> frozenset[str]:
    return frozenset(users)


# All roles are given, and the sets of the administrator exist: apac and middlewareenabled.
STEPS: Final = (
    Step("create", "mc1", "", by("dev1")),
    Step("create", "mc1", _APAC, _NOBODY),
    Step("create", "mc2", "", by("dev2")),
    Step("create", "mc2", _MIDDLEWARE, by("dev2")),
    Step("create", "mc2", _APAC, _NOBODY),
    Step("create", "mc3", "", _NOBODY),
    Step("create", "dr-us", "", by("sre1")),
    Step("create", "dr-us", _BACKUP, by("sre1")),
    Step("create", "dr-us", _APAC, _NOBODY),
    Step("label", "mc1", _APAC, by("agent-mc1")),
    Step("label", "mc1", _MIDDLEWARE, _NOBODY),
    Step("label", "mc1", "team=blue", by("dev1", "agent-mc1")),
    Step("label", "mc1", "region=nowhere", by("dev1", "agent-mc1")),
    Step("label", "mc1", f"{DEFAULT_KEY}=prod", _NOBODY),
    Step("label", "mc2", _MIDDLEWARE, by("dev2")),
    Step("label", "mc2", _APAC, _NOBODY),
    Step("label", "dr-us", _BACKUP, by("sre1")),
    Step("label", "dr-us", _APAC, _NOBODY),
    Step("unlabel", "mc1", "region", by("agent-mc1")),
    Step("unlabel", "mc1", "middlewareAttribute", _NOBODY),
    Step("unlabel", "mc2", "middlewareAttribute", by("dev2")),
    Step("delete", "mc1", "", _NOBODY),
    Step("create set", "backup", "clusterAttribute", by("sre1")),
    Step("create set", "backup", "region", _NOBODY),
    Step("create set", "backup", "", by("sre1")),
    Step("create set", "emea", "region", _NOBODY),
    Step("create set", "emea", "clusterAttribute", _NOBODY),
)


class Client:
    """Speaks HTTP as the user of a kubeconfig: quicker than kubectl, for many questions."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        address = urlsplit(cluster["server"])
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._token = config["users"][0]["user"]["token"]
        context = ssl.create_default_context(cadata=authority)
        self._connection = http.client.HTTPSConnection(address.hostname or "", address.port, context=context)

    def send(self, method: str, path: str, body: str = "", *, dry_run: bool = False) -> tuple[int, str]:
        """Code and message of the answer."""
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        self._connection.request(method, f"{path}?dryRun=All" if dry_run else path, body or None, headers)
        answer = self._connection.getresponse()
        return answer.status, json.loads(answer.read()).get("message", "")

    def close(self) -> None:
        self._connection.close()

    def may(self, step: Step) -> bool:
        """Whether the step would succeed. A refusal names what is missing."""
        code, message = self.send(*step.request, dry_run=True)
        assert code in (200, 201, 403), message
        assert code != 403 or "missing permissions:\n  " in message or " cannot " in message
        return code != 403


def foretold_of(kubeconfig: Path, users: Iterable[str], cluster: str, wanted: str) -> set[str]:
    """Those of whom `muster clusterset why` says yes."""

    async def question(asked: Asked) -> set[str]:
        return {user for user in users if (await move_of(asked, user, (), cluster, wanted)).allowed}

    return ask(question, None, None, str(kubeconfig))


def test_each_step_is_for_the_users_of_its_story_alone(tmp_path: Path) -> None:
    with a_stage(tmp_path) as stage, contextlib.ExitStack() as closing:
        for name in ("region", "recovery", "middleware"):
            stage.admin("apply", "-f", example(f"{name}/1-admin.yaml"))
        admin = Client(stage.admin.kubeconfig)
        users = {
            name: Client(kubectl.kubeconfig)
            for name, kubectl in (
                ("dev1", stage.dev1),
                ("dev2", stage.dev2),
                ("sre1", stage.sre1),
                ("agent-mc1", stage.agent),
            )
        }
        for client in (admin, *users.values()):
            closing.callback(client.close)
        done, foretold = {}, {}
        for step in STEPS:
            admin.send("DELETE", f"{_CLUSTERS}/{step.name}")
            if step.labels_before is not None:
                assert admin.send("POST", _CLUSTERS, a_cluster(step.name, **step.labels_before))[0] == 201
            done[str(step)] = {name for name, client in users.items() if client.may(step)}
            if (wanted := step.moves_to) is not None:
                foretold[str(step)] = foretold_of(stage.admin.kubeconfig, users, step.name, wanted)
    assert done == {str(step): set(step.allowed) for step in STEPS}
    assert foretold == {str(step): set(step.allowed) for step in STEPS if step.moves_to is not None}
    assert len(foretold) > 7
