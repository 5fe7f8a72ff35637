"""Settings: what can be said, in which form, and what is refused with which words."""

from __future__ import annotations

import pytest

from muster.errors import InvalidObjectError
from muster.kubernetes.settings import (
    DEFAULTS,
    HomeSettings,
    Resources,
    changed_values,
    parsed_assignment,
    settings_from,
)
from muster.values.json import JsonObject


def test_the_defaults_are_two_replicas_with_our_kinds_policies_and_webhooks() -> None:
    found = DEFAULTS
    assert (found.namespace, found.replicas, found.crds, found.mode) == ("muster-system", 2, "ours", "alone")
    assert (found.policies, found.webhooks, found.questions, found.monitoring, found.cert_manager) == (
        True,
        True,
        False,
        False,
        False,
    )


def test_values_are_named_as_in_the_chart_and_merged_into_what_is_there() -> None:
    found = settings_from({"certManager": True, "resources": {"memory": "512Mi"}})
    assert found == HomeSettings(cert_manager=True, resources=Resources(memory="512Mi"))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("replicas=3", {"replicas": 3}),
        ("questions=true", {"questions": True}),
        ("image=registry.example/muster:1=2", {"image": "registry.example/muster:1=2"}),
        ("namespace=123", {"namespace": "123"}),
        ("resources.cpuLimit=4", {"resources": {"cpuLimit": "4"}}),
        ('pod={"nodeSelector":{"a":"b"}}', {"pod": {"nodeSelector": {"a": "b"}}}),
        ("pod.priorityClassName=high", {"pod": {"priorityClassName": "high"}}),
    ],
)
def test_an_assignment_is_read_as_what_the_setting_is(written: str, value: JsonObject) -> None:
    assert parsed_assignment(written) == value
    settings_from(value)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ({"crds": "theirs"}, "crds: must be one of ours, upstream, none"),
        ({"mode": "observe"}, "mode: must be one of alone, instead, beside"),
        ({"logLevel": "loud"}, "logLevel: must be one of debug, info, warning, error"),
        ({"replicas": "two"}, "replicas: expected `int`, got `str`"),
        ({"replicas": -1}, "replicas: expected `int` >= 0"),
        ({"webhook": True}, "webhook: there is no such setting: did you mean webhooks?"),
        ({"namespace": "Muster"}, "namespace: 'Muster' is not the name of a namespace"),
        ({"namespace": ""}, "namespace: '' is not the name of a namespace"),
        ({"image": ""}, "image: an image must be named"),
        ({"resources": {"disk": "1Gi"}}, "resources: object contains unknown field `disk`"),
        ({"pod": {"containers": []}}, "pod: containers of the Pod's spec are ours"),
    ],
)
def test_what_is_wrong_is_named(values: JsonObject, told: str) -> None:
    with pytest.raises(InvalidObjectError) as refused:
        settings_from(values)
    assert str(refused.value).startswith(told)


@pytest.mark.parametrize("written", ["replicas", "=3"])
def test_an_assignment_without_name_or_value_is_refused(written: str) -> None:
    with pytest.raises(InvalidObjectError, match="name=value"):
        parsed_assignment(written)


def test_what_was_changed_makes_the_same_settings_again() -> None:
    settings = settings_from({"replicas": 5, "crds": "upstream", "resources": {"cpu": "1"}, "namespace": "fleet"})
    assert settings_from(changed_values(settings)) == settings
    assert changed_values(DEFAULTS) == {}
