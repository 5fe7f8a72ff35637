"""What the API server is told: who fails closed, what is never asked about, whom each mode asks."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import pytest

from muster.kubernetes.manifests import objects
from muster.kubernetes.serving.configurations import api_service, conversion, webhook_configurations
from muster.kubernetes.settings import HomeSettings

if TYPE_CHECKING:
    from muster.values.json import JsonObject

EVERY = [
    HomeSettings(policies=policies, mode=mode) for policies in (True, False) for mode in ("alone", "beside", "instead")
]


def webhooks(settings: HomeSettings) -> list[JsonObject]:
    return [each for configuration in webhook_configurations(settings) for each in configuration["webhooks"]]


def closed(settings: HomeSettings) -> list[str]:
    return [each["name"] for each in webhooks(settings) if each["failurePolicy"] == "Fail"]


def test_only_what_guards_permissions_fails_closed() -> None:
    assert closed(HomeSettings()) == ["sets.permissions.muster.dev"]
    assert closed(HomeSettings(policies=False)) == [
        "sets.permissions.muster.dev",
        "clusters.permissions.muster.dev",
        "bindings.permissions.muster.dev",
        "placements.permissions.muster.dev",
    ]
    assert closed(HomeSettings(mode="beside")) == []
    assert closed(HomeSettings(mode="beside", policies=False)) == ["placements.permissions.muster.dev"]


@pytest.mark.parametrize("settings", EVERY, ids=str)
def test_status_leases_and_namespaces_are_in_no_rule(settings: HomeSettings) -> None:
    for webhook in webhooks(settings):
        assert webhook["sideEffects"] == "None"
        assert webhook["admissionReviewVersions"] == ["v1"]
        assert webhook["timeoutSeconds"] <= 10
        for rule in webhook["rules"]:
            assert rule["apiGroups"] != [""]
            assert "coordination.k8s.io" not in rule["apiGroups"]
            assert not any("/" in each or "*" in each for each in rule["resources"])
            assert "*" not in rule["apiGroups"] + rule["apiVersions"] + rule["operations"]
            assert "DELETE" not in rule["operations"]


def test_what_fails_closed_is_asked_only_when_a_permission_is_at_stake() -> None:
    for webhook in webhooks(HomeSettings(policies=False)):
        if webhook["failurePolicy"] == "Fail" and "UPDATE" in webhook["rules"][0]["operations"]:
            assert webhook["matchConditions"]


def test_modes() -> None:
    assert webhook_configurations(HomeSettings(mode="instead")) == []
    assert webhook_configurations(HomeSettings(webhooks=False)) == []
    (beside,) = webhook_configurations(HomeSettings(mode="beside"))
    resources = {resource for rule in beside["webhooks"][0]["rules"] for resource in rule["resources"]}
    assert "placements" in resources
    assert "managedclusters" not in resources, "Open Cluster Management's own webhooks see to clusters there"


def test_instead_of_another_controller_nobody_is_called_and_nothing_is_made_for_it() -> None:
    """A conversion that nobody answers would make every cluster set unreadable."""
    instead = HomeSettings(mode="instead", questions=True, cert_manager=True)
    found = objects(instead)
    definitions = [each for each in found if each["kind"] == "CustomResourceDefinition"]
    assert definitions
    assert not [each for each in definitions if each["spec"].get("conversion", {}).get("strategy") == "Webhook"]
    served = {"Certificate", "Issuer", "APIService", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}
    assert not served & {each["kind"] for each in found}
    (service,) = (each for each in found if each["kind"] == "Service")
    assert [port["name"] for port in service["spec"]["ports"]] == ["metrics"]


def test_the_authority_is_where_it_is_looked_for_and_left_out_where_it_is_not_known() -> None:
    for webhook in [each for found in webhook_configurations(HomeSettings(), b"PEM") for each in found["webhooks"]]:
        assert base64.b64decode(webhook["clientConfig"]["caBundle"]) == b"PEM"
    assert "caBundle" not in webhooks(HomeSettings())[0]["clientConfig"]
    assert base64.b64decode(conversion(HomeSettings(), b"PEM")["webhook"]["clientConfig"]["caBundle"]) == b"PEM"


def test_questions_are_an_option() -> None:
    assert api_service(HomeSettings()) == []
    assert api_service(HomeSettings(questions=True, mode="instead")) == [], "where our Pods serve nothing"
    (service,) = api_service(HomeSettings(questions=True, namespace="here"), b"PEM")
    assert service["metadata"]["name"] == "v1alpha1.fleet.muster.dev"
    assert service["spec"]["service"] == {"name": "muster", "namespace": "here", "port": 6443}
