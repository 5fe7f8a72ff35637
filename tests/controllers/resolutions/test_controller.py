"""Resolutions on a hub: resolved, resolved again when an input changes, within bounds, and nothing else held up."""

from __future__ import annotations

import asyncio
import base64
import gzip
import json
import os
import time
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.api.resolution import CATALOG_LABEL
from muster.controllers.resolutions.jobs import CatalogInput, Job
from muster.controllers.resolutions.pool import WorkerPool
from tests.controllers.resolutions.running import (
    BASE,
    ask,
    blobs,
    needs,
    outcome,
    plan,
    put_catalog,
    resolution_controller,
    status,
)
from tests.controllers.running import Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.e2e

SHOP = [*blobs("shop", "1.0.0", "2.0.0", requires={"2.0.0": [needs("db", ">=2.0.0")]}), *blobs("db", "1.0.0", "2.0.0")]
RESOLVED = ("True", "Resolved")


@pytest.fixture
def hub() -> Iterator[Driver]:
    with driven_hub() as driver:
        yield driver


def test_an_inline_catalog_is_resolved_and_every_change_of_the_spec_anew(hub: Driver) -> None:
    with resolution_controller(hub.hub):
        ask(hub, "r", catalogs=[{"name": "ours", "inline": SHOP}], wants=[{"package": "shop"}])
        eventually(lambda: plan(hub, "r"), ["install shop.v2.0.0", "install db.v2.0.0"])
        found = status(hub, "r")
        assert found["plan"][1] == {
            "action": "install",
            "name": "db.v2.0.0",
            "package": "db",
            "version": "2.0.0",
            "channel": "stable",
            "catalog": "ours",
            "replaces": "db.v1.0.0",
            "askedBy": ["shop.v2.0.0 needs an operator of package db in >=2.0.0"],
        }
        assert (found["message"], found["planned"], found["observedGeneration"]) == ("2 to install", 2, 1)
        assert hub.condition(f"{BASE}/apps/resolutions/r", "CatalogsUsable") == ("True", "AllUsable")

        hub.patch(
            f"{BASE}/apps/resolutions/r", {"spec": {"wants": [{"package": "shop"}, {"package": "db", "pin": "1.0.0"}]}}
        )
        eventually(lambda: plan(hub, "r"), ["install db.v1.0.0", "install shop.v1.0.0"])
        assert status(hub, "r")["notes"] == ["shop falls back from shop.v2.0.0 to shop.v1.0.0"]
        passed = status(hub, "r")["plan"][1]["passedOver"]
        assert [(each["name"], each["code"]) for each in passed] == [("shop.v2.0.0", "NeedBlocked")]

        hub.patch(
            f"{BASE}/apps/resolutions/r",
            {"spec": {"wants": [{"package": "shop", "range": ">=2.0.0"}, {"package": "db", "pin": "1.0.0"}]}},
        )
        eventually(lambda: outcome(hub, "r"), ("False", "Unsatisfiable"))
        found = status(hub, "r")
        assert "plan" not in found
        assert found["message"].splitlines()[0] == "  Because you want db@=1.0.0 (which can be 1.0.0)"
        assert found["fixes"] == ["allow db 2.0.0", "allow shop 1.0.0", "drop db@=1.0.0", "drop shop@>=2.0.0"]
        codes = [(each["of"], each["code"]) for each in found["reasons"]]
        assert codes[0] == ("fact", "WantPossible")
        assert codes[-4:] == [("fix", "AllowVersion")] * 2 + [("fix", "DropWants")] * 2


def test_what_is_installed_is_updated_or_kept(hub: Driver) -> None:
    with resolution_controller(hub.hub):
        ask(
            hub,
            "r",
            catalogs=[{"name": "ours", "inline": SHOP}],
            wants=[{"package": "shop"}],
            installed=[{"name": "shop.v1.0.0"}, {"name": "db.v1.0.0"}],
        )
        eventually(lambda: plan(hub, "r"), ["keep db.v1.0.0", "keep shop.v1.0.0"])
        assert status(hub, "r")["notes"] == ["shop stays at shop.v1.0.0: no update of it fits"]
        hub.patch(f"{BASE}/apps/resolutions/r", {"spec": {"wants": [{"package": "shop"}, {"package": "db"}]}})
        eventually(lambda: plan(hub, "r"), ["update db.v2.0.0", "update shop.v2.0.0"])


def test_a_config_map_is_a_catalog_when_it_is_labelled_so_and_its_changes_count(hub: Driver) -> None:
    with resolution_controller(hub.hub):
        ask(hub, "r", catalogs=[{"name": "theirs", "configMap": {"name": "packed"}}], wants=[{"package": "db"}])
        eventually(lambda: outcome(hub, "r"), ("False", "CatalogProblem"))
        missing = f'catalog theirs: ConfigMap packed is not there, or lacks the label {CATALOG_LABEL}: "true"'
        assert status(hub, "r")["problems"] == [missing]

        put_catalog(hub, "packed", {"db.json": blobs("db", "1.0.0")}, label=False)
        time.sleep(0.3)
        assert status(hub, "r")["problems"] == [missing]

        put_catalog(hub, "packed", {"db.json": blobs("db", "1.0.0")})
        eventually(lambda: plan(hub, "r"), ["install db.v1.0.0"])
        before = status(hub, "r")["inputDigest"]
        put_catalog(hub, "packed", {"db.json": blobs("db", "1.0.0", "2.0.0")})
        eventually(lambda: plan(hub, "r"), ["install db.v2.0.0"])
        assert status(hub, "r")["inputDigest"] != before

        hub.send("DELETE", "/api/v1/namespaces/apps/configmaps/packed")
        eventually(lambda: outcome(hub, "r"), ("False", "CatalogProblem"))


def test_a_value_of_a_config_map_may_be_named_and_compressed(hub: Driver) -> None:
    packed = gzip.compress("\n".join(map(json.dumps, blobs("db", "3.0.0"))).encode())
    hub.send(
        "POST",
        "/api/v1/namespaces/apps/configmaps",
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "packed", "labels": {CATALOG_LABEL: "true"}},
            "data": {"other.yaml": "schema: [", "README.md": "hello"},
            "binaryData": {"db.ndjson.gz": base64.b64encode(packed).decode()},
        },
    )
    with resolution_controller(hub.hub):
        named = {"name": "packed", "keys": ["db.ndjson.gz"]}
        ask(hub, "one", catalogs=[{"name": "c", "configMap": named}], wants=[{"package": "db"}])
        ask(hub, "all", catalogs=[{"name": "c", "configMap": {"name": "packed"}}], wants=[{"package": "db"}])
        ask(hub, "none", catalogs=[{"name": "c", "configMap": {"name": "packed", "keys": ["x"]}}], wants=[])
        eventually(lambda: plan(hub, "one"), ["install db.v3.0.0"])
        eventually(lambda: plan(hub, "all"), ["install db.v3.0.0"])
        assert "problems" not in status(hub, "one")
        assert [each.partition(":")[0] for each in status(hub, "all")["problems"]] == ["c/README.md", "c/other.yaml"]
        eventually(lambda: status(hub, "none").get("problems"), ["catalog c: ConfigMap packed has no value x"])


def test_a_catalog_of_the_hub_is_read_by_its_name_and_again_when_its_file_changes(hub: Driver, tmp_path: Path) -> None:
    file = tmp_path / "db.json"
    odd = {"2.0.0": [{"type": "olm.constraint", "value": {"cell": 1}}]}
    file.write_text("\n".join([*map(json.dumps, blobs("db", "1.0.0", "2.0.0", requires=odd)), "{broken"]))
    with resolution_controller(hub.hub, {"community": tmp_path}):
        ask(hub, "named", catalogs=[{"name": "community"}], wants=[{"package": "db"}])
        ask(hub, "all", wants=[{"package": "db"}])
        ask(hub, "unknown", catalogs=[{"name": "secret"}], wants=[{"package": "db"}])
        eventually(lambda: plan(hub, "named"), ["install db.v1.0.0"])
        eventually(lambda: plan(hub, "all"), ["install db.v1.0.0"])
        eventually(lambda: outcome(hub, "unknown"), ("False", "CatalogProblem"))
        assert "the hub has no catalog of this name; it has community" in status(hub, "unknown")["problems"][0]
        problems = status(hub, "named")["problems"]
        assert problems[0].startswith("community/db.json:5: not valid JSON")
        assert problems[1].startswith("community/db.json:4#/properties/1/value/cell: db.v2.0.0: unknown field 'cell'")
        assert str(tmp_path) not in json.dumps(status(hub, "named"))

        file.write_text("\n".join(map(json.dumps, blobs("db", "1.0.0", "2.0.0"))))
        eventually(lambda: plan(hub, "named"), ["install db.v2.0.0"])
        file.unlink()
        eventually(lambda: outcome(hub, "named"), ("False", "CatalogProblem"))


def test_nothing_is_written_when_nothing_has_changed(hub: Driver, tmp_path: Path) -> None:
    file = tmp_path / "db.json"
    file.write_text("\n".join(map(json.dumps, blobs("db", "1.0.0"))))
    ask(hub, "r", catalogs=[{"name": "c"}], wants=[{"package": "db"}])
    with resolution_controller(hub.hub, {"c": file}) as controller:
        eventually(lambda: outcome(hub, "r"), RESOLVED)
        revision = hub.get(f"{BASE}/apps/resolutions/r")["metadata"]["resourceVersion"]
        file.touch()
        time.sleep(0.5)
        eventually(lambda: controller.idle, True)
        assert hub.get(f"{BASE}/apps/resolutions/r")["metadata"]["resourceVersion"] == revision
    with resolution_controller(hub.hub, {"c": file}) as controller:  # a restart is no change either
        eventually(lambda: controller.idle and controller.pool.started, 1)
        assert hub.get(f"{BASE}/apps/resolutions/r")["metadata"]["resourceVersion"] == revision


# --- hostile input

RUNAWAY = "properties.all(a, properties.all(b, properties.all(c, properties.all(d, properties.all(e, true)))))"


def runaway(count: int) -> list[dict[str, Any]]:
    """Bundles with many properties, and one that asks of each of them something that takes long."""
    many = [{"type": f"t{number}", "value": number} for number in range(40)]
    others = [each for number in range(count) for each in blobs(f"p{number}", "1.0.0", requires={"1.0.0": many})]
    rules = [
        {"type": "olm.constraint", "value": {"cel": {"rule": f"{RUNAWAY} && size(properties) > {100 + at}"}}}
        for at in range(20)
    ]
    return [*blobs("slow", "1.0.0", requires={"1.0.0": rules}), *others]


def test_a_resolution_that_takes_long_is_ended_and_holds_up_no_other(hub: Driver) -> None:
    hub.send("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "other"}})
    with resolution_controller(hub.hub):
        for number in range(3):
            ask(
                hub,
                f"slow{number}",
                catalogs=[{"name": "c", "inline": runaway(150)}],
                wants=[{"package": "slow"}],
                timeLimitSeconds=2,
            )
        ask(hub, "quick", "other", catalogs=[{"name": "c", "inline": SHOP}], wants=[{"package": "shop"}])
        eventually(lambda: outcome(hub, "quick", "other"), RESOLVED)
        assert outcome(hub, "slow2") != ("Unknown", "NotDecided")  # it is still waiting for its turn
        eventually(lambda: outcome(hub, "slow0"), ("Unknown", "NotDecided"))
        assert status(hub, "slow0")["message"].startswith("not decided in 2 s")


def test_hostile_catalogs_are_contained(hub: Driver) -> None:
    cyclic: list[dict[str, Any]] = [
        {"schema": "olm.package", "name": "loop", "defaultChannel": "stable"},
        {
            "schema": "olm.channel",
            "package": "loop",
            "name": "stable",
            "entries": [{"name": "a", "replaces": "b"}, {"name": "b", "replaces": "a"}],
        },
        *({"schema": "olm.bundle", "name": name, "package": "loop"} for name in "ab"),
    ]
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    hostile: list[dict[str, Any]] = [
        needs("db", " || ".join(f">={number}.0.0 <{number}.5.0" for number in range(4000))),
        {"type": "olm.constraint", "value": {"cel": {"rule": "properties.exists(p, p.type == 'deep')"}}},
        {"type": "olm.gvk", "value": ["not", "an", "api"]},
    ]
    catalog: list[dict[str, Any]] = [
        *blobs("odd", "1.0.0", requires={"1.0.0": hostile}),
        *blobs("db", "2.0.0"),
        *cyclic,
    ]
    catalog += blobs(
        "deep",
        "1.0.0",
        "2.0.0",
        requires={"1.0.0": [{"type": "deep", "value": 1}], "2.0.0": [{"type": "deep", "value": deep}]},
    )
    put_catalog(hub, "hostile", {"a.json": catalog})
    with resolution_controller(hub.hub):
        hostile_catalog = [{"name": "c", "configMap": {"name": "hostile"}}]
        ask(hub, "r", catalogs=hostile_catalog, wants=[{"package": "odd"}])
        ask(hub, "loop", catalogs=hostile_catalog, wants=[{"package": "loop"}])
        eventually(lambda: plan(hub, "r"), ["install odd.v1.0.0", "install db.v2.0.0", "install deep.v1.0.0"])
        eventually(lambda: outcome(hub, "loop"), ("False", "Unsatisfiable"))
        assert "no channel heads" in status(hub, "loop")["message"]


def test_a_worker_that_hangs_or_dies_gives_an_answer_all_the_same(tmp_path: Path) -> None:
    fifo = tmp_path / "never.json"
    os.mkfifo(fifo)

    async def asked() -> tuple[str, str]:
        pool = WorkerPool(workers=1, loading=1.0)
        hanging = Job(msgspec.Raw(b'{"wants": [{"package": "a"}]}'), [CatalogInput("c", path=str(fifo))])
        first = await pool.run(hanging, 0.5)
        fine = Job(msgspec.Raw(b'{"wants": []}'), [CatalogInput("c", texts={"a.json": json.dumps(SHOP[0])})])
        second = await pool.run(fine, 10)
        await pool.close()
        return first.conditions["Resolved"].message, second.conditions["Resolved"].message

    assert asyncio.run(asked()) == ("not decided: ended after 2 s", "nothing to do")


def test_the_whole_set_of_controllers_resolves_too(hub: Driver) -> None:
    put_catalog(hub, "packed", {"db.json": blobs("db", "1.0.0")})
    with controllers(hub.hub) as manager:
        ask(hub, "r", catalogs=[{"name": "theirs", "configMap": {"name": "packed"}}], wants=[{"package": "db"}])
        eventually(lambda: plan(hub, "r"), ["install db.v1.0.0"])
        metrics = manager.metrics.render().decode()
    assert 'muster_resolution_outcomes_total{reason="Resolved"} 1' in metrics
    assert "muster_resolutions 1" in metrics
    assert 'workqueue_depth{name="resolution"} 0' in metrics
