"""Files for other programs: k9s' plugins and views, Argo CD's manifests. Against what those programs take, as known."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from muster.api.jsonpath import compile_path
from muster.api.registry import RESOURCES, find
from tests.cli.tree import all_commands

ROOT = Path(__file__).resolve().parents[1] / "deploy"
PLUGINS: dict[str, Any] = yaml.safe_load((ROOT / "k9s" / "plugins.yaml").read_text(encoding="utf-8"))["plugins"]
VIEWS: dict[str, Any] = yaml.safe_load((ROOT / "k9s" / "views.yaml").read_text(encoding="utf-8"))["views"]
OPTIONAL = {"args", "confirm", "background", "dangerous", "override", "overwriteOutput", "inputs"}
#: What every table of k9s binds itself (0.51): it leaves out a plugin with such a key, and only its log says so.
TAKEN = {*(f"Shift-{key}" for key in "AGJNOPS"), *(f"Ctrl-{key}" for key in "ACDERSUWZ")}
GIVEN = {"NAME", "NAMESPACE", "CONTEXT", "CLUSTER", "USER", "GROUPS", "POD", "CONTAINER", "KUBECONFIG", "FILTER"}


@pytest.mark.parametrize("name", PLUGINS)
def test_plugins_have_the_fields_that_k9s_takes_and_call_commands_that_exist(name: str) -> None:
    plugin = PLUGINS[name]
    assert {"shortCut", "description", "scopes", "command"} <= plugin.keys()
    assert plugin.keys() <= {"shortCut", "description", "scopes", "command"} | OPTIONAL
    assert re.fullmatch(r"(Shift|Ctrl)-[A-Z0-9]", plugin["shortCut"])
    assert plugin["shortCut"] not in TAKEN
    text = " ".join(plugin["args"])
    assert set(re.findall(r"\$([A-Z_]+)", text)) <= GIVEN
    (command,) = re.findall(r"muster \w+ \w+", text)
    known = all_commands()[command]
    options = {each for parameter in known.params for each in parameter.opts}
    assert set(re.findall(r"(?<!\w)(--?[a-z]+)", re.split("[|;]", text.partition("muster")[2])[0])) <= options
    plurals = {each.plural for each in RESOURCES.values()}
    assert set(plugin["scopes"]) <= plurals


def test_no_two_plugins_of_one_view_have_the_same_key() -> None:
    keys = [(scope, plugin["shortCut"]) for plugin in PLUGINS.values() for scope in plugin["scopes"]]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("gvr", VIEWS)
def test_views_are_of_kinds_that_are_served_and_their_columns_are_paths(gvr: str) -> None:
    group, version, plural = gvr.split("/")
    found = find(group, version, plural)
    assert found is not None
    view = VIEWS[gvr]
    assert view.keys() <= {"columns", "sortColumn"}
    names = [column.partition(":")[0] for column in view["columns"]]
    assert view["sortColumn"].partition(":")[0] in names
    for column in view["columns"]:
        name, colon, path = column.partition(":")
        assert re.fullmatch(r"[A-Z]+", name)
        if colon:
            compile_path(path.partition("|")[0])
            root = path[1:].partition(".")[0].partition("[")[0]
            assert root in found[1].schema["properties"]


@pytest.mark.parametrize("file", sorted((ROOT / "argocd").glob("*.yaml")), ids=lambda path: path.stem)
def test_manifests_for_argo_cd_are_objects_that_say_what_its_generators_read(file: Path) -> None:
    for each in yaml.safe_load_all(file.read_text(encoding="utf-8")):
        assert {"apiVersion", "kind", "metadata"} <= each.keys()
        if each["kind"] == "ConfigMap" and "statusListKey" in each["data"]:
            group, version = each["data"]["apiVersion"].split("/")
            assert find(group, version, each["data"]["kind"]) is not None
            assert (each["data"]["statusListKey"], each["data"]["matchKey"]) == ("decisions", "clusterName")
        elif each["kind"] == "ConfigMap":
            secret, _, key = each["data"]["token"].removeprefix("$").partition(":")
            assert (secret, key) == ("muster-plugin-generator", "token")
            assert int(each["data"]["requestTimeout"]) <= 30
        elif each["kind"] == "Secret":
            assert each["metadata"]["labels"]["app.kubernetes.io/part-of"] == "argocd"
