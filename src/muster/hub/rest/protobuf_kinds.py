"""The protobuf field numbers of the built-in kinds that the hub serves. Data only; `protobuf` decodes with it.

The numbers are part of Kubernetes' wire format and never change; a new field gets a new number. A field that is not
in a table is skipped, as a server skips the fields of a newer client.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.hub.rest import protobuf_definitions as definitions
from muster.hub.rest.protobuf import Field, Message, Scalar

if TYPE_CHECKING:
    from collections.abc import Mapping

_S, _I, _B = Scalar.STRING, Scalar.INTEGER, Scalar.BOOLEAN


def _texts(*names: str) -> Message:
    """A message of plain strings, numbered from 1."""
    return Message({number: Field(name, _S) for number, name in enumerate(names, 1)})


_OWNER_REFERENCE = Message(
    {
        1: Field("kind", _S),
        3: Field("name", _S),
        4: Field("uid", _S),
        5: Field("apiVersion", _S),
        6: Field("controller", _B, pointer=True),
        7: Field("blockOwnerDeletion", _B, pointer=True),
    }
)
_MANAGED_FIELDS = Message(
    {
        1: Field("manager", _S),
        2: Field("operation", _S),
        3: Field("apiVersion", _S),
        4: Field("time", Scalar.TIME),
        6: Field("fieldsType", _S),
        7: Field("fieldsV1", Scalar.RAW_JSON),
        8: Field("subresource", _S),
    }
)
METADATA = Message(
    {
        1: Field("name", _S),
        2: Field("generateName", _S),
        3: Field("namespace", _S),
        4: Field("selfLink", _S),
        5: Field("uid", _S),
        6: Field("resourceVersion", _S),
        7: Field("generation", _I),
        8: Field("creationTimestamp", Scalar.TIME),
        9: Field("deletionTimestamp", Scalar.TIME),
        10: Field("deletionGracePeriodSeconds", _I, pointer=True),
        11: Field("labels", _S, mapping=True),
        12: Field("annotations", _S, mapping=True),
        13: Field("ownerReferences", _OWNER_REFERENCE, repeated=True),
        14: Field("finalizers", _S, repeated=True),
        17: Field("managedFields", _MANAGED_FIELDS, repeated=True),
    }
)
_SELECTOR_REQUIREMENT = Message({1: Field("key", _S), 2: Field("operator", _S), 3: Field("values", _S, repeated=True)})
_LABEL_SELECTOR = Message(
    {1: Field("matchLabels", _S, mapping=True), 2: Field("matchExpressions", _SELECTOR_REQUIREMENT, repeated=True)}
)
_OBJECT_REFERENCE = _texts("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")


def _object(fields: Mapping[int, Field]) -> Message:
    """A top-level kind: field 1 is always its metadata."""
    return Message({1: Field("metadata", METADATA), **fields})


# core/v1
_NAMESPACE_CONDITION = Message(
    {
        1: Field("type", _S),
        2: Field("status", _S),
        4: Field("lastTransitionTime", Scalar.TIME),
        5: Field("reason", _S),
        6: Field("message", _S),
    }
)
_NAMESPACE = _object(
    {
        2: Field("spec", Message({1: Field("finalizers", _S, repeated=True)})),
        3: Field(
            "status", Message({1: Field("phase", _S), 2: Field("conditions", _NAMESPACE_CONDITION, repeated=True)})
        ),
    }
)
_CONFIG_MAP = _object(
    {
        2: Field("data", _S, mapping=True),
        3: Field("binaryData", Scalar.BYTES, mapping=True),
        4: Field("immutable", _B, pointer=True),
    }
)
_SECRET = _object(
    {
        2: Field("data", Scalar.BYTES, mapping=True),
        3: Field("type", _S),
        4: Field("stringData", _S, mapping=True),
        5: Field("immutable", _B, pointer=True),
    }
)
_SERVICE_ACCOUNT = _object(
    {
        2: Field("secrets", _OBJECT_REFERENCE, repeated=True),
        3: Field("imagePullSecrets", _texts("name"), repeated=True),
        4: Field("automountServiceAccountToken", _B, pointer=True),
    }
)
_EVENT_SERIES = Message({1: Field("count", _I), 2: Field("lastObservedTime", Scalar.MICRO_TIME)})
_EVENT = _object(
    {
        2: Field("involvedObject", _OBJECT_REFERENCE),
        3: Field("reason", _S),
        4: Field("message", _S),
        5: Field("source", _texts("component", "host")),
        6: Field("firstTimestamp", Scalar.TIME),
        7: Field("lastTimestamp", Scalar.TIME),
        8: Field("count", _I),
        9: Field("type", _S),
        10: Field("eventTime", Scalar.MICRO_TIME),
        11: Field("series", _EVENT_SERIES),
        12: Field("action", _S),
        13: Field("related", _OBJECT_REFERENCE),
        14: Field("reportingComponent", _S),
        15: Field("reportingInstance", _S),
    }
)

# events.k8s.io/v1
_GROUP_EVENT = _object(
    {
        2: Field("eventTime", Scalar.MICRO_TIME),
        3: Field("series", _EVENT_SERIES),
        4: Field("reportingController", _S),
        5: Field("reportingInstance", _S),
        6: Field("action", _S),
        7: Field("reason", _S),
        8: Field("regarding", _OBJECT_REFERENCE),
        9: Field("related", _OBJECT_REFERENCE),
        10: Field("note", _S),
        11: Field("type", _S),
        12: Field("deprecatedSource", _texts("component", "host")),
        13: Field("deprecatedFirstTimestamp", Scalar.TIME),
        14: Field("deprecatedLastTimestamp", Scalar.TIME),
        15: Field("deprecatedCount", _I),
    }
)

# certificates.k8s.io/v1
_CERTIFICATE_CONDITION = Message(
    {
        1: Field("type", _S),
        2: Field("reason", _S),
        3: Field("message", _S),
        4: Field("lastUpdateTime", Scalar.TIME),
        5: Field("lastTransitionTime", Scalar.TIME),
        6: Field("status", _S),
    }
)
_CERTIFICATE_SIGNING_REQUEST = _object(
    {
        2: Field(
            "spec",
            Message(
                {
                    1: Field("request", Scalar.BYTES),
                    2: Field("username", _S),
                    3: Field("uid", _S),
                    4: Field("groups", _S, repeated=True),
                    5: Field("usages", _S, repeated=True),
                    6: Field("extra", Scalar.STRINGS, mapping=True),
                    7: Field("signerName", _S),
                    8: Field("expirationSeconds", _I, pointer=True),
                }
            ),
        ),
        3: Field(
            "status",
            Message(
                {
                    1: Field("conditions", _CERTIFICATE_CONDITION, repeated=True),
                    2: Field("certificate", Scalar.BYTES),
                }
            ),
        ),
    }
)

# coordination.k8s.io/v1
_LEASE = _object(
    {
        2: Field(
            "spec",
            Message(
                {
                    1: Field("holderIdentity", _S, pointer=True),
                    2: Field("leaseDurationSeconds", _I, pointer=True),
                    3: Field("acquireTime", Scalar.MICRO_TIME),
                    4: Field("renewTime", Scalar.MICRO_TIME),
                    5: Field("leaseTransitions", _I, pointer=True),
                    6: Field("strategy", _S, pointer=True),
                    7: Field("preferredHolder", _S, pointer=True),
                }
            ),
        )
    }
)

# rbac.authorization.k8s.io/v1
_POLICY_RULE = Message(
    {
        1: Field("verbs", _S, repeated=True),
        2: Field("apiGroups", _S, repeated=True),
        3: Field("resources", _S, repeated=True),
        4: Field("resourceNames", _S, repeated=True),
        5: Field("nonResourceURLs", _S, repeated=True),
    }
)
_ROLE = _object({2: Field("rules", _POLICY_RULE, repeated=True)})
_CLUSTER_ROLE = _object(
    {
        2: Field("rules", _POLICY_RULE, repeated=True),
        3: Field(
            "aggregationRule", Message({1: Field("clusterRoleSelectors", _LABEL_SELECTOR, repeated=True)}), pointer=True
        ),
    }
)
_BINDING = _object(
    {
        2: Field("subjects", _texts("kind", "apiGroup", "name", "namespace"), repeated=True),
        3: Field("roleRef", _texts("apiGroup", "kind", "name")),
    }
)

# authorization.k8s.io/v1
_SELECTOR_ATTRIBUTES = Message(
    {1: Field("rawSelector", _S), 2: Field("requirements", _SELECTOR_REQUIREMENT, repeated=True)}
)
_RESOURCE_ATTRIBUTES = Message(
    {
        **_texts("namespace", "verb", "group", "version", "resource", "subresource", "name"),
        8: Field("fieldSelector", _SELECTOR_ATTRIBUTES, pointer=True),
        9: Field("labelSelector", _SELECTOR_ATTRIBUTES, pointer=True),
    }
)
_NON_RESOURCE_ATTRIBUTES = _texts("path", "verb")
_ACCESS_REVIEW_SPEC = Message(
    {
        1: Field("resourceAttributes", _RESOURCE_ATTRIBUTES, pointer=True),
        2: Field("nonResourceAttributes", _NON_RESOURCE_ATTRIBUTES, pointer=True),
        3: Field("user", _S),
        4: Field("groups", _S, repeated=True),
        5: Field("extra", Scalar.STRINGS, mapping=True),
        6: Field("uid", _S),
    }
)
_ACCESS_REVIEW_STATUS = Message(
    {
        1: Field("allowed", _B, pointer=True),
        2: Field("reason", _S),
        3: Field("evaluationError", _S),
        4: Field("denied", _B),
    }
)
_ACCESS_REVIEW = _object({2: Field("spec", _ACCESS_REVIEW_SPEC), 3: Field("status", _ACCESS_REVIEW_STATUS)})
_RULES_REVIEW = _object(
    {
        2: Field("spec", _texts("namespace")),
        3: Field(
            "status",
            Message(
                {
                    1: Field("resourceRules", _POLICY_RULE, repeated=True),
                    2: Field(
                        "nonResourceRules",
                        Message({1: Field("verbs", _S, repeated=True), 2: Field("nonResourceURLs", _S, repeated=True)}),
                        repeated=True,
                    ),
                    3: Field("incomplete", _B, pointer=True),
                    4: Field("evaluationError", _S),
                }
            ),
        ),
    }
)

# authentication.k8s.io/v1
_USER_INFO = Message(
    {
        1: Field("username", _S),
        2: Field("uid", _S),
        3: Field("groups", _S, repeated=True),
        4: Field("extra", Scalar.STRINGS, mapping=True),
    }
)
_TOKEN_REVIEW = _object(
    {
        2: Field("spec", Message({1: Field("token", _S), 2: Field("audiences", _S, repeated=True)})),
        3: Field(
            "status",
            Message(
                {
                    1: Field("authenticated", _B),
                    2: Field("user", _USER_INFO),
                    3: Field("error", _S),
                    4: Field("audiences", _S, repeated=True),
                }
            ),
        ),
    }
)
_SELF_SUBJECT_REVIEW = _object({2: Field("status", Message({1: Field("userInfo", _USER_INFO)}))})

DELETE_OPTIONS = Message(
    {
        1: Field("gracePeriodSeconds", _I, pointer=True),
        2: Field(
            "preconditions",
            Message({1: Field("uid", _S, pointer=True), 2: Field("resourceVersion", _S, pointer=True)}),
            pointer=True,
        ),
        3: Field("orphanDependents", _B, pointer=True),
        4: Field("propagationPolicy", _S, pointer=True),
        5: Field("dryRun", _S, repeated=True),
    }
)

# By group and kind; every served version of these groups is v1.
_TOKEN_REQUEST = _object(
    {
        2: Field(
            "spec",
            Message(
                {
                    1: Field("audiences", _S, repeated=True),
                    3: Field("boundObjectRef", _texts("kind", "apiVersion", "name", "uid")),
                    4: Field("expirationSeconds", _I, pointer=True),
                }
            ),
        ),
        3: Field("status", Message({1: Field("token", _S), 2: Field("expirationTimestamp", Scalar.TIME)})),
    }
)

KINDS: Mapping[tuple[str, str], Message] = {
    ("", "Service"): _object({}),  # of which there are none
    ("", "Namespace"): _NAMESPACE,
    ("", "ConfigMap"): _CONFIG_MAP,
    ("", "Secret"): _SECRET,
    ("", "ServiceAccount"): _SERVICE_ACCOUNT,
    ("", "Event"): _EVENT,
    ("events.k8s.io", "Event"): _GROUP_EVENT,
    ("certificates.k8s.io", "CertificateSigningRequest"): _CERTIFICATE_SIGNING_REQUEST,
    ("coordination.k8s.io", "Lease"): _LEASE,
    ("rbac.authorization.k8s.io", "Role"): _ROLE,
    ("rbac.authorization.k8s.io", "ClusterRole"): _CLUSTER_ROLE,
    ("rbac.authorization.k8s.io", "RoleBinding"): _BINDING,
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): _BINDING,
    ("authentication.k8s.io", "TokenRequest"): _TOKEN_REQUEST,
    ("authorization.k8s.io", "SelfSubjectAccessReview"): _ACCESS_REVIEW,
    ("authorization.k8s.io", "SubjectAccessReview"): _ACCESS_REVIEW,
    ("authorization.k8s.io", "LocalSubjectAccessReview"): _ACCESS_REVIEW,
    ("authorization.k8s.io", "SelfSubjectRulesReview"): _RULES_REVIEW,
    ("authentication.k8s.io", "TokenReview"): _TOKEN_REVIEW,
    ("authentication.k8s.io", "SelfSubjectReview"): _SELF_SUBJECT_REVIEW,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _object(
        {2: Field("spec", definitions.SPEC), 3: Field("status", definitions.STATUS)}
    ),
}
