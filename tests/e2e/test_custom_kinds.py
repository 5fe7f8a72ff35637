"""The real kubectl with kinds that it defines itself: applied, shown, explained, scaled, patched and deleted.

The definition has the shape of OCM's ManagedClusterAddOn: status with conditions, columns by JSONPath, rules, versions.
"""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_kubectl import KUBECTL, Kubectl

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hub.rest.running import RunningHub

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]

DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: addons.shop.example.com
spec:
  group: shop.example.com
  scope: Namespaced
  names: {plural: addons, kind: AddOn, shortNames: [ad], categories: [shop]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}
    additionalPrinterColumns:
    - {name: Available, type: string, jsonPath: '.status.conditions[?(@.type=="Available")].status'}
    - {name: Replicas, type: integer, jsonPath: .spec.replicas}
    schema: &schema
      openAPIV3Schema:
        type: object
        description: Something that is installed in a cluster.
        properties:
          spec:
            type: object
            properties:
              installNamespace: {type: string, default: agents, maxLength: 63, description: Where it is installed.}
              replicas: {type: integer, minimum: 0, default: 1}
            x-kubernetes-validations:
            - {rule: self.installNamespace == oldSelf.installNamespace, message: installNamespace is immutable}
          status:
            type: object
            properties:
              replicas: {type: integer}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type, status]
                  properties:
                    type: {type: string}
                    status: {type: string, enum: ["True", "False", Unknown]}
  - name: v1alpha1
    served: true
    storage: false
    deprecated: true
    schema: *schema
"""
OBJECT = """\
apiVersion: shop.example.com/v1
kind: AddOn
metadata: {name: work, namespace: default}
spec: {replicas: 2}
"""


@pytest.fixture(scope="module")
def kubectl(hub: RunningHub, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    home: Path = tmp_path_factory.mktemp("home")
    return Kubectl(home, hub.kubeconfig(home / "kubeconfig"))


def test_a_kind_from_its_definition_to_its_end(kubectl: Kubectl) -> None:
    assert "created" in kubectl("apply", "-f", "-", stdin=DEFINITION)
    kubectl("wait", "--for=condition=Established", "crd/addons.shop.example.com", "--timeout=20s")
    assert "addons" in kubectl("api-resources", "--api-group", "shop.example.com")
    kubectl("apply", "-f", "-", stdin=OBJECT)

    change = '{"status":{"conditions":[{"type":"Available","status":"True"}]}}'
    kubectl("patch", "addon", "work", "--subresource=status", "--type=merge", "-p", change)
    assert kubectl("get", "ad").split() == ["NAME", "AVAILABLE", "REPLICAS", "work", "True", "2"]
    assert "addon.shop.example.com/work" in kubectl("get", "shop", "-o", "name")
    assert "Where it is installed." in kubectl("explain", "addons.spec.installNamespace")

    kubectl("scale", "addon", "work", "--replicas=5")
    assert kubectl("get", "addon", "work", "-o", "jsonpath={.spec.replicas}") == "5"
    refusal = kubectl("patch", "addon", "work", "--type=merge", "-p", '{"spec":{"installNamespace":"x"}}', fails=True)
    assert "installNamespace is immutable" in refusal
    unknown = kubectl("apply", "-f", "-", stdin=OBJECT.replace("replicas", "replica"), fails=True)
    assert 'unknown field "spec.replica"' in unknown
    old = kubectl.run("get", "addons.v1alpha1.shop.example.com")
    assert "is deprecated; use shop.example.com/v1 AddOn" in old.stderr
    server_side = kubectl("apply", "--server-side", "-f", "-", stdin=OBJECT.replace("work", "more"))
    assert "serverside-applied" in server_side

    kubectl("delete", "crd", "addons.shop.example.com", "--timeout=20s")
    shutil.rmtree(kubectl.home / ".kube", ignore_errors=True)  # what it remembers of the server's kinds
    assert "the server doesn't have a resource type" in kubectl("get", "addons", fails=True)


def test_a_definition_of_one_of_the_hubs_own_kinds_can_be_applied_again_and_again(kubectl: Kubectl) -> None:
    name = "managedclusters.cluster.open-cluster-management.io"
    written = _without_server_fields(kubectl("get", "crd", name, "-o", "yaml"))
    other = written.replace("scope: Cluster", "scope: Namespaced")
    for text in (written, other, other):
        assert name in kubectl("apply", "-f", "-", stdin=text)
        assert name in kubectl("apply", "--server-side", "-f", "-", stdin=text)
    assert "scope: Cluster" in kubectl("get", "crd", name, "-o", "yaml")
    assert "the hub serves this kind itself" in kubectl("delete", "crd", name, fails=True)
    assert "No resources found" in kubectl.run("get", "managedclusters").stderr


def _without_server_fields(text: str) -> str:
    """What somebody would have written: no status, and no metadata but the name."""
    body = text.partition("\nspec:")[2].partition("\nstatus:")[0]
    name = "managedclusters.cluster.open-cluster-management.io"
    return (
        f"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: {name}\nspec:{body}\n"
    )
