"""The console in the cluster: there only by a setting, with an account that may do nothing, apart from other Pods."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pytest

from muster.console.entrance import LOOPBACK
from muster.errors import InvalidObjectError
from muster.kubernetes.manifests import objects
from muster.kubernetes.settings import DEFAULTS, HomeSettings, settings_from
from muster.values.json import Json, JsonObject

URL: Final = "https://fleet.example.com"
WITH: Final = HomeSettings(console=URL)


@dataclass(frozen=True, slots=True)
class Found:
    """What the setting adds."""

    by_kind: dict[str, JsonObject]
    others: list[JsonObject]


def found() -> Found:
    before = objects(DEFAULTS)
    added = [each for each in objects(WITH) if each not in before]
    return Found({each["kind"]: each for each in added}, before)


def test_it_is_an_option_and_changes_nothing_else() -> None:
    assert set(found().by_kind) == {"ServiceAccount", "Service", "Deployment", "NetworkPolicy", "Ingress"}
    assert {each["metadata"]["name"] for each in found().by_kind.values()} == {"muster-console"}
    assert [each for each in found().others if each not in objects(WITH)] == []
    without = [each["kind"] for each in objects(HomeSettings(console=URL, network_policy=False))]
    assert without.count("NetworkPolicy") == 0


def test_its_account_is_in_no_binding() -> None:
    subjects: list[JsonObject] = [one for each in objects(WITH) for one in each.get("subjects", [])]
    assert subjects
    assert "muster-console" not in {each["name"] for each in subjects}


def test_it_is_told_the_url_and_runs_as_restricted_as_the_others() -> None:
    pod = found().by_kind["Deployment"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["args"] == [f"--behind-ingress={URL}", "--host=0.0.0.0", "--port=8080"]
    assert container["args"][1].partition("=")[2] not in LOOPBACK
    (ours,) = [each for each in found().others if each["kind"] == "Deployment"]
    other = ours["spec"]["template"]["spec"]
    assert (pod["securityContext"], container["securityContext"]) == (
        other["securityContext"],
        other["containers"][0]["securityContext"],
    )


def test_the_ingress_leads_to_its_pods_and_to_no_other() -> None:
    kinds = found().by_kind
    ingress = kinds["Ingress"]["spec"]
    assert (ingress["rules"][0]["host"], ingress["tls"][0]["hosts"]) == ("fleet.example.com", ["fleet.example.com"])
    assert ingress["rules"][0]["http"]["paths"][0]["backend"]["service"]["name"] == "muster-console"
    labels = kinds["Deployment"]["spec"]["template"]["metadata"]["labels"].items()
    assert kinds["Service"]["spec"]["selector"].items() <= labels
    assert kinds["NetworkPolicy"]["spec"]["podSelector"]["matchLabels"].items() <= labels
    for each in found().others:
        if each["kind"] in ("Service", "NetworkPolicy", "PodDisruptionBudget"):
            spec: Json = each["spec"]
            chosen = spec.get("podSelector", spec.get("selector", {}))
            assert not dict(chosen.get("matchLabels", chosen)).items() <= labels


@pytest.mark.parametrize(
    "url", ["http://fleet.example.com", "https://fleet.example.com/path", "fleet", "https://", "https://A.example"]
)
def test_a_url_that_browsers_could_not_use_is_refused(url: str) -> None:
    with pytest.raises(InvalidObjectError, match="console"):
        settings_from({"console": url})
