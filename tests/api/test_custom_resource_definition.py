"""Definitions as they are read: what was not said, and what was said wrongly, is empty."""

from __future__ import annotations

from muster.api.custom_resource_definition import (
    HTTPS,
    Definition,
    DefinitionNames,
    WebhookService,
    read_definition,
)


def test_a_definition_is_read_with_its_schemas_as_they_are() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    found = read_definition(
        {
            "metadata": {"name": "things.example.com", "generation": 3},
            "spec": {
                "group": "example.com",
                "names": {"plural": "things", "kind": "Thing", "shortNames": ["th"]},
                "scope": "Namespaced",
                "versions": [
                    {
                        "name": "v1",
                        "served": True,
                        "storage": True,
                        "schema": {"openAPIV3Schema": schema},
                        "subresources": {"status": {}},
                    },
                    {"name": "v2", "schema": None, "additionalPrinterColumns": None},
                ],
                "conversion": {"webhook": {"clientConfig": {"service": {"name": "s", "namespace": "n"}}}},
            },
            "status": {"conditions": [{"type": "Established", "status": "True"}], "storedVersions": None},
        }
    )
    first, second = found.spec.versions
    assert first.schema.openapi is schema
    assert (first.has_status, second.has_status, second.schema.openapi) == (True, False, None)
    assert found.spec.names == DefinitionNames("things", kind="Thing", short_names=("th",))
    assert found.spec.conversion is not None
    assert found.spec.conversion.webhook.client_config is not None
    assert found.spec.conversion.webhook.client_config.service == WebhookService("s", "n", HTTPS)
    assert (found.is_true("Established"), found.is_true("NamesAccepted"), found.status.stored_versions) == (
        True,
        False,
        (),
    )


def test_whatever_is_stored_there_is_a_definition() -> None:
    assert read_definition({"spec": "nonsense", "status": [], "metadata": None}) == Definition()
