"""Owners on an API server without OwnerReferencesPermissionEnforcement, as most run: our policy says the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.kubernetes.calling import CLUSTERS, a_cluster, a_rule
from tests.kubernetes.homes import kubernetes_home
from tests.kubernetes.server import running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.binaries import Binaries
    from tests.kubernetes.homes import Home

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
OWNER = {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone-tomorrow", "uid": "1-2-3"}


@pytest.fixture
def plain_home(binaries: Binaries, tmp_path: Path) -> Iterator[Home]:
    with running(binaries, tmp_path, plugins=()) as server, kubernetes_home(server, tmp_path, pods=0) as home:
        yield home


def test_giving_a_cluster_an_owner_needs_the_permission_to_delete_it(plain_home: Home) -> None:
    write = a_rule("get,update,patch", "managedclusters")
    plain_home.grant("dev1", write)
    plain_home.grant("sre1", write, a_rule("delete", "managedclusters", "owned"))
    plain_home.admin.ok("POST", CLUSTERS, a_cluster("owned"))
    path, owned = f"{CLUSTERS}/owned", {"metadata": {"ownerReferences": [OWNER]}}
    refused = plain_home.caller("dev1").send("PATCH", path, owned)
    assert refused.code == 403
    assert refused.message.endswith(
        "ValidatingAdmissionPolicy 'muster-owners' with binding 'muster-owners' denied request: "
        'managedclusters.cluster.open-cluster-management.io "owned" is forbidden: cannot set an ownerRef on a resource '
        'you can\'t delete: user "dev1" needs the permission to delete '
        "managedclusters.cluster.open-cluster-management.io"
    )
    plain_home.caller("sre1").ok("PATCH", path, owned)
    plain_home.caller("dev1").ok("PATCH", path, {"metadata": {"annotations": {"note": "owners stay"}}})
    assert plain_home.caller("dev1").send("PATCH", path, {"metadata": {"ownerReferences": None}}).code == 403
