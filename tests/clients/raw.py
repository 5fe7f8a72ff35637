"""What k9s asks of a server, request by request: no library in between that could forgive.

It discovers in the aggregated form, lists everything as tables with `resourceVersion=0`, asks for each of its views
whether it may, and follows by watches of tables.
"""

from __future__ import annotations

import base64
import contextlib
import json
import ssl
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import yaml

from tests.clients import made
from tests.clients.matrix import Client

if TYPE_CHECKING:
    from pathlib import Path

NAME = "k9s-like requests"
_OWN = "k9s-like"
TABLE = (
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json"
)
DISCOVERY = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
MAPS = "/api/v1/namespaces/default/configmaps"
EVENTS = "/apis/events.k8s.io/v1/namespaces/default/events"


class Raw:
    """The requests."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster = config["clusters"][0]["cluster"]
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        self._server: str = cluster["server"]
        self._token: str = config["users"][0]["user"]["token"]
        self._context = ssl.create_default_context(cadata=authority)

    def client(self) -> Client:
        return Client(
            NAME,
            {
                "version": self.version,
                "discover": self.discover,
                "create": self.create,
                "get": self.get,
                "list": self.list,
                "patch": self.patch,
                "watch": self.watch,
                "delete": self.delete,
                "custom": self.custom,
                "events": self.events,
            },
        )

    def _ask(self, path: str, accept: str = "application/json", method: str = "GET", body: Any = None) -> bytes:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": accept}
        if body is not None:
            patching = method == "PATCH"
            headers["Content-Type"] = "application/merge-patch+json" if patching else "application/json"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self._server}{path}", data, headers, method=method)
        with urllib.request.urlopen(request, timeout=60, context=self._context) as answer:
            content: bytes = answer.read()
            return content

    def send(self, path: str, accept: str = "application/json", method: str = "GET", body: Any = None) -> Any:
        return json.loads(self._ask(path, accept, method, body))

    def version(self) -> None:
        assert self.send("/version")["major"] == "1"

    def discover(self) -> None:
        found = self.send("/apis", DISCOVERY)
        assert found["kind"] == "APIGroupDiscoveryList"
        names = {group["metadata"]["name"] for group in found["items"]}
        assert {"events.k8s.io", "certificates.k8s.io", made.OCM} <= names, names
        # There are no metrics here; k9s asks and goes on without.
        with contextlib.suppress(urllib.error.HTTPError):
            self._ask("/apis/metrics.k8s.io/v1beta1")
            raise AssertionError("metrics were found")

    def create(self) -> None:
        self.send(MAPS, method="POST", body=made.config_map(_OWN, a="1"))

    def get(self) -> None:
        assert self.send(f"{MAPS}/{_OWN}")["data"] == {"a": "1"}
        assert b"kind: ConfigMap" in self._ask(f"{MAPS}/{_OWN}", "application/yaml")

    def list(self) -> None:
        asked = {"resource": "configmaps", "verb": "list", "namespace": "default"}
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": asked},
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        assert self.send(path, method="POST", body=review)["status"]["allowed"]
        shown = self.send(f"{MAPS}?resourceVersion=0&includeObject=Object", TABLE)
        assert shown["kind"] == "Table"
        assert any(row["object"]["metadata"]["name"] == _OWN for row in shown["rows"])

    def patch(self) -> None:
        assert self.send(f"{MAPS}/{_OWN}", method="PATCH", body={"data": {"a": "2"}})["data"] == {"a": "2"}

    def watch(self) -> None:
        revision = self.send(f"{MAPS}?limit=500&resourceVersion=0")["metadata"]["resourceVersion"]
        self.send(f"{MAPS}/{_OWN}", method="PATCH", body={"data": {"a": "3"}})
        query = f"watch=true&allowWatchBookmarks=true&resourceVersion={revision}&timeoutSeconds=2"
        lines = [json.loads(line) for line in self._ask(f"{MAPS}?{query}", TABLE).splitlines()]
        assert lines[0]["type"] == "MODIFIED", lines
        assert lines[0]["object"]["kind"] == "Table", lines

    def delete(self) -> None:
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        assert self.send(f"{MAPS}/{_OWN}", method="DELETE", body=options)["status"] == "Success"

    def custom(self) -> None:
        shown = self.send(f"/apis/{made.OCM}/v1beta1/placementdecisions?resourceVersion=0", TABLE)
        named = [column["name"] for column in shown["columnDefinitions"]]
        assert {"Count", "Clusters", "Generation"} <= set(named), named

    def events(self) -> None:
        self.send(EVENTS, method="POST", body=made.event(_OWN))
        shown = self.send("/apis/events.k8s.io/v1/events?resourceVersion=0", TABLE)
        assert any(f"seen by {_OWN}" in row["cells"] for row in shown["rows"]), shown["rows"]
