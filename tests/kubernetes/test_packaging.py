"""Chart and kustomizations hold the same objects as `muster kubernetes manifests`, whatever the settings."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import msgspec
import pytest
import yaml

from muster.kubernetes.manifests import objects
from muster.kubernetes.packaging.__main__ import packages
from muster.kubernetes.packaging.chart import values_schema
from muster.kubernetes.packaging.templates import SWITCHES
from muster.kubernetes.packaging.variants import combinations
from muster.kubernetes.settings import DEFAULTS, HomeSettings, settings_from
from muster.values.json import JsonObject
from tests.kubernetes.rendering import rendered

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "charts" / "muster"
NEWER = frozenset(
    f"admissionregistration.k8s.io/v1/{kind}" for kind in ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")
)
KEEP = "helm.sh/resource-policy"
TEMPLATES = {each.name: each.read_text() for each in sorted((CHART / "templates").rglob("*.yaml"))}


def test_the_files_in_the_clone_are_what_the_code_writes() -> None:
    for folder, files in packages().items():
        present = {str(each.relative_to(ROOT / folder)) for each in (ROOT / folder).rglob("*") if each.is_file()}
        assert present == set(files), "run `python -m muster.kubernetes.packaging .`"
        for name, text in files.items():
            assert (ROOT / folder / name).read_text() == text, f"{name}: run `python -m muster.kubernetes.packaging .`"


def in_order(found: list[JsonObject]) -> list[JsonObject]:
    """Without what only the chart has, and what only manifests have; in an order of their own."""
    kept = []
    for each in found:
        metadata = dict(each["metadata"])
        if each["kind"] == "Namespace":
            continue
        if each["kind"] == "CustomResourceDefinition":
            annotations = {key: value for key, value in metadata.pop("annotations", {}).items() if key != KEEP}
            metadata |= {"annotations": annotations} if annotations else {}
        kept.append({**each, "metadata": metadata})
    return sorted(kept, key=lambda each: (each["kind"], each["metadata"]["name"]))


def of_chart(settings: HomeSettings, served: frozenset[str] = NEWER) -> list[JsonObject]:
    values = msgspec.to_builtins(settings)
    texts = TEMPLATES.values()
    return [obj for text in texts for obj in rendered(text, values, settings.namespace, served)]


def chosen(choice: tuple[bool | str, ...], **more: object) -> HomeSettings:
    values = dict(zip((each.name for each in SWITCHES), choice, strict=True))
    console = "https://fleet.example.com" if values["console"] else ""
    return settings_from({**values, "console": console, **more})


def fits(choice: tuple[bool | str, ...]) -> bool:
    """What Open Cluster Management does itself is ours only where its controllers do not run."""
    values = dict(zip((each.name for each in SWITCHES), choice, strict=True))
    return values["mode"] == "alone" or not (values["registration"] or values["clusterProfiles"])


# Definitions are big and depend on three switches only: they are compared below.
@pytest.mark.parametrize(
    "choice", list(filter(fits, combinations(SWITCHES)))[::41], ids=lambda choice: "-".join(map(str, choice))
)
def test_the_chart_has_the_objects_of_manifests(choice: tuple[bool | str, ...]) -> None:
    small = {name: text for name, text in TEMPLATES.items() if "CustomResourceDefinition" not in text}
    settings = chosen(choice, namespace="fleet", replicas=3, image="example/muster:1", logLevel="debug")
    values = msgspec.to_builtins(settings)
    found = [obj for text in small.values() for obj in rendered(text, values, "fleet", NEWER)]
    wanted = [each for each in objects(settings) if each["kind"] != "CustomResourceDefinition"]
    assert in_order(found) == in_order(wanted)


@pytest.mark.parametrize(
    "values",
    [
        {},
        {"webhooks": False},
        {"certManager": True},
        {"crds": "upstream"},
        {"crds": "none", "questions": True, "monitoring": True},
        {"pod": {"nodeSelector": {"disk": "fast"}, "tolerations": [{"key": "a", "operator": "Exists"}]}},
        {"sync": True, "registration": True, "clusterProfiles": True, "pod": {"priorityClassName": "high"}},
    ],
)
def test_the_whole_chart_has_the_objects_of_manifests(values: JsonObject) -> None:
    settings = settings_from(values)
    assert in_order(of_chart(settings)) == in_order(objects(settings))


def test_definitions_are_kept_when_the_chart_is_uninstalled() -> None:
    definitions = [each for each in of_chart(DEFAULTS) if each["kind"] == "CustomResourceDefinition"]
    assert len(definitions) > 10
    assert all(each["metadata"]["annotations"][KEEP] == "keep" for each in definitions)


def test_values_are_the_settings_and_the_schema_knows_them() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert settings_from(values) == DEFAULTS
    schema = json.loads((CHART / "values.schema.json").read_text())
    assert schema == values_schema()
    assert set(schema["properties"]) == {*values, "global"}
    assert schema["additionalProperties"] is False


def test_kustomizations_have_the_objects_of_manifests() -> None:
    files = [ROOT / "kustomize" / "home" / "home.yaml", ROOT / "kustomize" / "kinds" / "kinds.yaml"]
    found = [obj for file in files for obj in yaml.load_all(file.read_text(), Loader=yaml.CSafeLoader)]
    whole = sorted(objects(DEFAULTS), key=lambda each: (each["kind"], each["metadata"]["name"]))
    assert sorted(found, key=lambda each: (each["kind"], each["metadata"]["name"])) == whole


def helm() -> str:
    found = os.environ.get("MUSTER_HELM") or shutil.which("helm")
    if found is None:
        pytest.skip("needs helm, on the path or named by MUSTER_HELM: `make interop` builds it")
    return found


@pytest.mark.e2e
@pytest.mark.parametrize(
    "values",
    [{}, {"crds": "upstream", "mode": "beside"}, {"webhooks": False, "networkPolicy": False}, {"replicas": 0},
     {"questions": True, "monitoring": True, "certManager": True, "pod": {"priorityClassName": "high"}},
     {"sync": True}, {"registration": True}, {"clusterProfiles": True}, {"sync": True, "mode": "beside"},
     {"sync": True, "registration": True, "clusterProfiles": True, "replicas": 3, "networkPolicy": False,
      "pod": {"nodeSelector": {"disk": "fast"}}}],
)  # fmt: skip
def test_helm_renders_the_objects_of_manifests(values: JsonObject, tmp_path: Path) -> None:
    file = tmp_path / "values.yaml"
    file.write_text(json.dumps(values))
    command = [
        helm(),
        "template",
        "muster",
        str(CHART),
        "--namespace",
        "fleet",
        "-f",
        str(file),
        "--kube-version",
        "1.36.0",
    ]
    command += [part for kind in sorted(NEWER) for part in ("--api-versions", kind)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    found = [each for each in yaml.load_all(done.stdout, Loader=yaml.CSafeLoader) if each]
    assert in_order(found) == in_order(objects(settings_from({"namespace": "fleet", **values})))


@pytest.mark.e2e
def test_helm_refuses_values_that_the_schema_does_not_know(tmp_path: Path) -> None:
    done = subprocess.run(
        [helm(), "template", "muster", str(CHART), "--set", "webhook=true"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode != 0
    assert "webhook" in done.stderr
