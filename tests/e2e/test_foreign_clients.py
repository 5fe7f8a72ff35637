"""Other people's Python clients: what works against a Kubernetes server works against the hub."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import kubernetes
import lightkube
import pytest
from kubernetes.dynamic import DynamicClient
from kubernetes.dynamic.exceptions import NotFoundError
from lightkube.core.exceptions import ApiError
from lightkube.generic_resource import create_global_resource
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap
from lightkube.types import PatchType

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.hub.rest.running import RunningHub

pytestmark = [pytest.mark.e2e, pytest.mark.filterwarnings("default")]

API_VERSION = "cluster.open-cluster-management.io/v1"


def cluster(name: str, **labels: str) -> dict[str, Any]:
    return {
        "apiVersion": API_VERSION,
        "kind": "ManagedCluster",
        "metadata": {"name": name, "labels": labels},
        "spec": {"hubAcceptsClient": True},
    }


@pytest.fixture
def dynamic(hub: RunningHub, tmp_path: Path) -> Iterator[DynamicClient]:
    configuration = kubernetes.client.Configuration()
    path = str(hub.kubeconfig(tmp_path / "kubeconfig"))
    # The package declares types for some functions only.
    kubernetes.config.load_kube_config(path, client_configuration=configuration)  # type: ignore[no-untyped-call]
    with kubernetes.client.ApiClient(configuration) as client:
        yield DynamicClient(client, cache_file=str(tmp_path / "discovery.json"))  # type: ignore[no-untyped-call]


def test_the_dynamic_client_of_kubernetes_creates_lists_watches_patches_applies_and_deletes(
    dynamic: DynamicClient,
) -> None:
    clusters = dynamic.resources.get(api_version=API_VERSION, kind="ManagedCluster")
    made = clusters.create(body=cluster("dynamic", tool="dynamic"))
    assert (made.metadata.name, made.spec.leaseDurationSeconds) == ("dynamic", 60)

    listed = clusters.get(label_selector="tool=dynamic")
    assert [item.metadata.name for item in listed.items] == ["dynamic"]

    patched = clusters.patch(
        name="dynamic", body={"metadata": {"labels": {"x": "1"}}}, content_type="application/merge-patch+json"
    )
    assert patched.metadata.labels.x == "1"

    applied = clusters.server_side_apply(
        body={**cluster("dynamic", y="2")}, name="dynamic", field_manager="test", force_conflicts=True
    )
    assert applied.metadata.labels.to_dict() == {"tool": "dynamic", "x": "1", "y": "2"}

    version = listed.metadata.resourceVersion
    events = [
        (event["type"], event["object"].metadata.name)
        for event in clusters.watch(resource_version=version, timeout=2, label_selector="tool=dynamic")
    ]
    assert events == [("MODIFIED", "dynamic"), ("MODIFIED", "dynamic")]

    clusters.delete(name="dynamic")
    with pytest.raises(NotFoundError):
        clusters.get(name="dynamic")


@pytest.fixture
def client(hub: RunningHub, tmp_path: Path) -> Iterator[lightkube.Client]:
    config = lightkube.KubeConfig.from_file(str(hub.kubeconfig(tmp_path / "kubeconfig")))
    with lightkube.Client(config=config, field_manager="lightkube") as opened:
        yield opened


def test_lightkube_creates_lists_watches_patches_applies_and_deletes(client: lightkube.Client) -> None:
    kind = create_global_resource("cluster.open-cluster-management.io", "v1", "ManagedCluster", "managedclusters")

    made = client.create(kind.from_dict(cluster("light", tool="lightkube")))
    assert made.metadata is not None
    assert made.metadata.name == "light"

    listed = list(client.list(kind, labels={"tool": "lightkube"}, chunk_size=1))
    assert [item.metadata.name for item in listed if item.metadata] == ["light"]

    version = made.metadata.resourceVersion
    patched = client.patch(kind, "light", {"metadata": {"labels": {"x": "1"}}}, patch_type=PatchType.MERGE)
    assert patched.metadata is not None
    assert patched.metadata.labels == {"tool": "lightkube", "x": "1"}

    applied = client.apply(kind.from_dict(cluster("light", y="2")), force=True)
    assert applied.metadata is not None
    assert applied.metadata.labels == {"tool": "lightkube", "x": "1", "y": "2"}

    watched = []
    for operation, item in client.watch(kind, resource_version=version, labels={"tool": "lightkube"}):
        watched.append((operation, item.metadata.name if item.metadata else None))
        if len(watched) == 2:
            break
    assert watched == [("MODIFIED", "light"), ("MODIFIED", "light")]

    client.create(ConfigMap(metadata=ObjectMeta(name="light", namespace="default"), data={"a": "1"}))
    assert client.get(ConfigMap, "light", namespace="default").data == {"a": "1"}

    client.delete(kind, "light")
    with pytest.raises(ApiError) as caught:
        client.get(kind, "light")
    assert caught.value.status.code == 404
