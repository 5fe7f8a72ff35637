"""What the resolving process makes of a job, whatever its spec holds."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from muster.controllers.resolutions.jobs import CatalogInput, Job
from muster.controllers.resolutions.worker import CatalogCache, work_on

BLOBS = [
    {"schema": "olm.package", "name": "etcd", "defaultChannel": "stable"},
    {"schema": "olm.channel", "package": "etcd", "name": "stable", "entries": [{"name": "etcd.v1.0.0"}]},
    {
        "schema": "olm.bundle",
        "name": "etcd.v1.0.0",
        "package": "etcd",
        "properties": [{"type": "olm.package", "value": {"packageName": "etcd", "version": "1.0.0"}}],
    },
]


def outcome(**spec: Any) -> tuple[str, str]:
    given = {"catalogs": [{"name": "c", "inline": BLOBS}], "wants": [{"package": "etcd"}], **spec}
    job = Job(msgspec.Raw(json.dumps(given).encode()), [CatalogInput("c", inline=True)])
    verdict = work_on(job, CatalogCache()).conditions["Resolved"]
    return verdict.status, verdict.reason


def test_what_is_null_was_never_said() -> None:
    assert outcome(installed=None, facts=None, optional=None, timeLimitSeconds=None) == outcome()
    assert outcome()[0] == "True"


@pytest.mark.parametrize("odd", [{"installed": {}}, {"timeLimitSeconds": "soon"}, {"wants": [5]}])
def test_a_spec_of_another_shape_is_told_and_ends_nothing(odd: dict[str, Any]) -> None:
    assert outcome(**odd) == ("False", "InvalidSpec")
