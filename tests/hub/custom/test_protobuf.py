"""Definitions in protobuf, as typed Go clients may send them."""

from __future__ import annotations

import base64

from tests.hub.custom.a_kind import DEFINITIONS, Shop

# Written by k8s.io/apiextensions-apiserver v0.36.0.
SENT = (
    "azhzAAozChdhcGlleHRlbnNpb25zLms4cy5pby92MRIYQ3VzdG9tUmVzb3VyY2VEZWZpbml0aW9uEuwDCiUKFXRveXMuc2hvcC5leGFtcGxlLm"
    "NvbRIAGgAiACoAMgA4AEIAErQDChBzaG9wLmV4YW1wbGUuY29tGhMKBHRveXMSABoCdHkiA1RveSoAIgpOYW1lc3BhY2VkOvwCCgJ2MRABGAEi"
    "6wIK6AIKABIAIgAqBm9iamVjdDIAOgBQAGAAegCQAQDqAcACCgRzcGVjErcCCgASACIAKgZvYmplY3QyADoAUABgAHoAkAEA6gFeCgFsElkKAB"
    "IAIgAqBWFycmF5MgA6AFAAYAB6AIABBZABAMIBMAouCgASACIAKgZzdHJpbmcyADoAUABgAGgJegCQAQCiAQUKAyJhIqgCALgCAMACAKgCALgC"
    "AMACAOoBVAoBbRJPCgASACIAKgZvYmplY3QyADoAUABgAHoAkAEA8gEoCAESJAoAEgAiACoGc3RyaW5nMgA6AFAAYAB6AJABAKgCALgCAMACAK"
    "gCALgCAMACAOoBQAoBbhI7CgASACIAKgZudW1iZXIyADoAQgMKATFJAAAAAAAACEBQAFkAAAAAAADgP2AAegCQAQCoAgC4AgDAAgCoAgC4AgDA"
    "AgDiAhUKDHNlbGYubiA+IDAuMBIBbRoAKgCoAgC4AgDAAgAqAgoAOABQABoMEggKABIAIgAqACAAGgAiAA=="
)


def test_a_definition_can_be_sent_in_protobuf(hub: Shop) -> None:
    answer = hub.send("POST", DEFINITIONS, base64.b64decode(SENT), "application/vnd.kubernetes.protobuf")
    assert hub.code == 201, answer
    (version,) = answer["spec"]["versions"]
    assert version["subresources"] == {"status": {}}
    assert version["schema"]["openAPIV3Schema"]["properties"]["spec"] == {
        "type": "object",
        "properties": {
            "n": {"type": "number", "minimum": 0.5, "maximum": 3, "default": 1},
            "l": {"type": "array", "maxItems": 5, "items": {"type": "string", "maxLength": 9, "enum": ["a"]}},
            "m": {"type": "object", "additionalProperties": {"type": "string"}},
        },
        "x-kubernetes-validations": [{"rule": "self.n > 0.0", "message": "m"}],
    }
    assert hub.create("a", {})["spec"] == {"n": 1}
