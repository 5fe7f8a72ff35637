"""ResolutionPreview: a resolution resolved now, in a worker process, with the catalogs that the asker may read."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.controllers.resolutions.running import blobs, needs
from tests.questions.previewing import Asked, Object, a_catalog_map, a_resolution, asked, may, rule

if TYPE_CHECKING:
    from pathlib import Path

RESOLUTIONS = "resolution.muster.dev"
GOOD = [
    *blobs("shop", "1.0.0", "2.0.0", requires={"2.0.0": [needs("db", ">=2.0.0")]}),
    *blobs("db", "1.0.0", "2.0.0"),
    *blobs("old", "1.0.0", requires={"1.0.0": [needs("db", "<2.0.0")]}),
]
CATALOG = a_catalog_map("operators", GOOD)
FROM_MAP: Object = {"catalogs": [{"name": "c", "configMap": {"name": "operators"}}]}
SHOP = a_resolution("shop", wants=[{"package": "shop"}], **FROM_MAP)
CLASH = a_resolution("clash", wants=[{"package": "shop", "range": ">=2.0.0"}, {"package": "old"}], **FROM_MAP)
EVERYTHING = [rule("resolutions", "get", "create", group=RESOLUTIONS), rule("configmaps", "get", group="")]


def preview(spec: Object, *objects: Object, rules: list[Object] | None = None, **more: Any) -> Any:
    given = EVERYTHING if rules is None else rules
    return asked([SHOP, CLASH, CATALOG, *objects], given, "ResolutionPreview", {"namespace": "apps", **spec}, **more)


def steps(plan: list[Object]) -> list[tuple[str, str]]:
    return [(each["action"], each["name"]) for each in plan]


def test_a_saved_resolution_has_a_plan_that_says_why_each_is_in_it() -> None:
    status = preview({"name": "shop"})

    assert (status["outcome"], status["text"]) == ("resolved", "2 to install")
    assert [(each["package"], each["version"], each["channel"], each["askedBy"]) for each in status["plan"]] == [
        ("shop", "2.0.0", "stable", ["you want shop"]),
        ("db", "2.0.0", "stable", ["shop.v2.0.0 needs an operator of package db in >=2.0.0"]),
    ]
    assert status["lock"]["wants"] == ["shop"]
    assert status["inputDigest"].startswith("sha256:")


def test_a_worker_process_says_the_same() -> None:
    assert preview({"name": "shop"}, workers=True) == preview({"name": "shop"})


def test_one_that_is_not_saved_is_resolved_like_one_that_is() -> None:
    unsaved = {key: value for key, value in SHOP.items() if key != "metadata"}

    assert preview({"resolution": unsaved}) == preview({"name": "shop"})


def test_a_conflict_is_a_small_graph_with_fixes_that_were_tried_and_their_plans() -> None:
    status = preview({"name": "clash"})

    assert status["outcome"] == "impossible"
    nodes = {each["id"]: each for each in status["conflict"]["nodes"]}
    assert [(each["kind"], each["text"], each["parts"]) for each in nodes.values()] == [
        ("want", "old", False),
        ("want", "shop@>=2.0.0", False),
        ("operator", "old", False),
        ("operator", "shop", False),
        ("operator", "db", True),
    ]
    assert [
        (nodes[each["from"]]["text"], nodes[each["to"]]["text"], each["text"]) for each in status["conflict"]["edges"]
    ] == [
        ("old", "old", "any version"),
        ("shop@>=2.0.0", "shop", ">=2.0.0"),
        ("old", "db", "<2.0.0"),
        ("shop", "db", ">=2.0.0"),
    ]
    assert [(each["text"], steps(each["plan"])) for each in status["fixes"]] == [
        ("allow shop 1.0.0", [("install", "old.v1.0.0"), ("install", "shop.v1.0.0"), ("install", "db.v1.0.0")]),
        ("drop old", [("install", "shop.v2.0.0"), ("install", "db.v2.0.0")]),
        ("drop shop@>=2.0.0", [("install", "old.v1.0.0"), ("install", "db.v1.0.0")]),
    ]
    assert [each["kind"] for each in status["facts"]] == ["want", "want", "needs", "needs", "one-package"]


def test_what_differs_from_a_lock_is_told_and_a_lock_can_be_insisted_on() -> None:
    lock = preview({"name": "shop"})["lock"]
    before = a_resolution("before", wants=[{"package": "shop", "pin": "1.0.0"}], **FROM_MAP)
    older = preview({"resolution": before})["lock"]

    same = preview({"name": "shop", "lock": lock})
    other = preview({"name": "shop", "lock": older})
    insisting = preview({"name": "shop", "lock": older, "locked": True})
    changed = {**lock, "operators": [{**each, "digest": "sha256:0"} for each in lock["operators"]]}
    gone = preview({"name": "shop", "lock": changed, "locked": True})
    wrong = preview({"name": "shop", "lock": {"wants": 5}})

    assert same["lockChanges"] == []
    assert other["lockChanges"] == [
        {"package": "db", "before": "", "after": "db.v2.0.0 (stable)"},
        {"package": "shop", "before": "shop.v1.0.0 (stable)", "after": "shop.v2.0.0 (stable)"},
    ]
    assert steps(insisting["plan"]) == [("install", "shop.v1.0.0")]
    for refused in (gone, wrong):
        assert (refused["outcome"], refused["diagnostics"][0]["field"]) == ("invalid", "spec.lock")


def test_a_package_is_explained() -> None:
    explanation = preview({"name": "shop", "explain": "db"})["explanation"]

    assert explanation["package"] == "db"
    assert explanation["text"].startswith("db: db.v2.0.0 is chosen")


@pytest.mark.parametrize(
    ("spec", "field"),
    [
        ({"wants": [{"package": "a", "range": "nonsense"}]}, "spec.wants[0].range"),
        ({"wants": "a"}, "spec.wants"),
        ({"compat": "olm-v9"}, "spec.compat"),
        ({"timeLimitSeconds": 0}, "spec.timeLimitSeconds"),
    ],
)
def test_what_is_wrong_with_a_resolution_is_told_by_field(spec: Object, field: str) -> None:
    status = preview({"resolution": a_resolution("x", **{**FROM_MAP, **spec})})

    assert (status["outcome"], status["diagnostics"][0]["field"]) == ("invalid", field)


def test_what_cannot_be_used_of_catalogs_is_told() -> None:
    missing = [{"name": "c", "configMap": {"name": "none"}}, {"name": "i", "inline": [{"schema": "olm.bundle"}]}]

    status = preview({"resolution": a_resolution("x", wants=[{"package": "a"}], catalogs=missing)})

    assert status["outcome"] == "impossible"
    assert status["catalogFaults"][0].startswith("catalog c: ConfigMap none is not there, or lacks the label")
    assert len(status["catalogFaults"]) == 2


def test_a_resolution_that_the_asker_may_not_get_is_refused_whether_it_is_there_or_not() -> None:
    rules = [rule("resolutions", "get", group=RESOLUTIONS, names=["mine"]), rule("configmaps", "get", group="")]

    assert {preview({"name": name}, rules=rules)["refused"] for name in ("shop", "none")} == {403}
    assert preview({"name": "mine"}, rules=rules)["refused"] == 404


def test_a_config_map_that_the_asker_may_not_get_is_refused_whether_it_is_there_or_not() -> None:
    rules = [rule("resolutions", "get", group=RESOLUTIONS), rule("configmaps", "get", group="", names=["other"])]
    absent = a_resolution("x", catalogs=[{"name": "c", "configMap": {"name": "none"}}])

    there, not_there = preview({"name": "shop"}, rules=rules), preview({"resolution": absent}, rules=rules)

    assert (there["refused"], not_there["refused"]) == (403, 403)
    assert there["message"].replace("operators", "none") == not_there["message"]


def test_the_servers_own_catalogs_are_for_those_who_could_save_a_resolution(tmp_path: Path) -> None:
    file = tmp_path / "own.json"
    file.write_text("\n".join(json.dumps(each) for each in GOOD))
    own = a_resolution("own", wants=[{"package": "shop"}])
    reader = [rule("resolutions", "get", group=RESOLUTIONS)]
    paths = {"secret-name": str(file)}

    assert steps(preview({"resolution": own}, paths=paths)["plan"]) == [
        ("install", "shop.v2.0.0"),
        ("install", "db.v2.0.0"),
    ]
    refused = preview({"resolution": own}, rules=reader, paths=paths)
    unknown = a_resolution("x", catalogs=[{"name": "guess"}])
    assert refused["refused"] == 403
    assert preview({"resolution": unknown}, rules=reader, paths=paths)["refused"] == 403
    assert "secret-name" not in preview({"resolution": unknown}, rules=reader, paths=paths)["message"]


def test_no_namespace_is_a_mistake() -> None:
    assert preview({"namespace": "", "resolution": {"spec": {}}})["refused"] == 422


def test_a_slow_preview_delays_no_other_question_and_ends_with_whoever_asked() -> None:
    """A catalog in which nothing fits, with so many ways to try that deciding takes its whole time."""
    ways = [blob for n in range(14) for blob in blobs(f"p{n}", *(f"{v}.0.0" for v in range(1, 12)))]
    for blob in ways:
        if blob["schema"] == "olm.bundle":
            number = int(blob["package"][1:])
            blob["properties"] += [needs(f"p{(number + step) % 14}", f"!={step}.0.0") for step in range(1, 6)]
            blob["properties"].append(
                {"type": "olm.constraint", "value": {"failureMessage": "x", "cel": {"rule": "false"}}}
            )
    slow = a_resolution("slow", wants=[{"package": f"p{n}"} for n in range(14)], **FROM_MAP)

    async def ask() -> tuple[Any, bool]:
        found = Asked([a_catalog_map("operators", ways), slow], may(EVERYTHING), workers=True)
        first = asyncio.create_task(found.ask("ResolutionPreview", {"namespace": "apps", "resolution": slow}))
        await asyncio.sleep(0)  # it has begun
        other = await found.ask("ClassificationPreview", {"namespace": "apps", "query": "true"})
        was_done = first.done()
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        await found.observer.close()
        return other, was_done

    other, was_done = asyncio.run(ask())

    assert (other["hosts"], was_done) == (0, False)
