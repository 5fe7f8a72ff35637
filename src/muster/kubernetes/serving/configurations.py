"""What the API server is told of our webhooks and questions: webhook configurations, conversion, APIService. Pure.

The manifests have them, `certificate_keeper` puts the authority into them. Only what guards permissions fails closed,
and it is asked only when a permission is at stake; everything else may be passed by. Status, heartbeats, leases and
namespaces are in no rule, so that our Pods being down never stops them.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from muster.api import RESOURCES
from muster.api.agent import GROUP as AGENTS
from muster.api.fleet_parts import GROUP as FLEET
from muster.api.fleet_parts import VERSION as FLEET_VERSION
from muster.api.managed_cluster import GROUP as OCM
from muster.api.resolution import GROUP as RESOLUTIONS
from muster.kubernetes.policies.approving import NEEDED as APPROVAL_NEEDED
from muster.kubernetes.serving.webhooks import ADVICE, CONVERSION, DEFAULTS, PERMISSIONS
from muster.kubernetes.settings import NAME, QUESTIONS_PORT
from muster.placement.guards import PREFIX as GUARDS
from muster.selectors.membership import DEFAULT_KEY
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.kubernetes.settings import HomeSettings

_REGISTRATION: Final = "admissionregistration.k8s.io/v1"
_WEBHOOK_SERVICE_PORT: Final = 443
_PATIENCE: Final = 10  # seconds for what must be answered
_SHORT_PATIENCE: Final = 3  # for advice: nobody waits long for it
API_SERVICE: Final = f"{FLEET_VERSION}.{FLEET}"

# Conditions under which the API server asks at all. They are about dynamic objects, so that every field is looked for.
_IS_CREATED: Final = "request.operation == 'CREATE'"
_MEMBERSHIP: Final = (
    "({0}.?spec.?clusterSelector.?selectorType.orValue('ExclusiveClusterSetLabel')"
    " + ' ' + {0}.?spec.?exclusiveKey.orValue(''))"
)
_MEMBERSHIP_BEGINS: Final = f"{_MEMBERSHIP.format('object')} != {_MEMBERSHIP.format('oldObject')}"
_LABELS: Final = "{0}.?metadata.?labels.orValue({{}})"
_ACCEPTED: Final = "{0}.?spec.?hubAcceptsClient.orValue(false)"
_PERMISSIONS_OF_CLUSTERS: Final = (
    f"{_LABELS.format('object')} != {_LABELS.format('oldObject')}"
    f" || {_ACCEPTED.format('object')} != {_ACCEPTED.format('oldObject')}"
)
_SPEC_CHANGES: Final = (
    "object.?spec != oldObject.?spec || object.?metadata.?ownerReferences != oldObject.?metadata.?ownerReferences"
)
#: What a placement says about its guards, in annotations.
_GUARDS_CHANGE: Final = (
    f"object.?metadata.?annotations.orValue({{}}).exists(name, name.startsWith('{GUARDS}')"
    " && oldObject.?metadata.?annotations[?name].orValue('') != object.metadata.annotations[name])"
)
_LACKS_DEFAULTS: Final = (
    f"object.?metadata.?labels[?'{DEFAULT_KEY}'].orValue('') == ''"
    " || (has(object.spec) && has(object.spec.taints)"
    " && (oldObject == null || object.spec.taints != oldObject.?spec.?taints.orValue([])"
    " || object.spec.taints.exists(t, !has(t.timeAdded) || t.timeAdded == null)))"
)
_IS_STAYING: Final = "!has(object.metadata.deletionTimestamp)"


def webhook_configurations(settings: HomeSettings, ca_bundle: bytes = b"") -> list[JsonObject]:
    """The webhook configurations; none where webhooks are off. `ca_bundle` is in PEM; left out, our Pods fill it in."""
    if not settings.has_webhooks:
        return []
    validating = [_advice(settings, ca_bundle)]
    mutating: list[JsonObject] = []
    if settings.mode == "alone":
        validating = [*_permissions(settings, ca_bundle), *validating]
        mutating = [_defaults(settings, ca_bundle)]
    elif not settings.policies:
        validating = [_approvals(settings, ca_bundle), *validating]
    found = [_configuration("ValidatingWebhookConfiguration", validating)]
    return [*found, _configuration("MutatingWebhookConfiguration", mutating)] if mutating else found


def conversion(settings: HomeSettings, ca_bundle: bytes = b"") -> JsonObject:
    """`spec.conversion` of the definition of a kind that is served in several versions."""
    client = _client(settings, CONVERSION, ca_bundle)
    return {"strategy": "Webhook", "webhook": {"clientConfig": client, "conversionReviewVersions": ["v1"]}}


def api_service(settings: HomeSettings, ca_bundle: bytes = b"") -> list[JsonObject]:
    """The APIService of the questions; none where nobody answers them: one without a backend breaks discovery for all.
    Instead of Open Cluster Management's controller our Pods serve nothing."""
    if not settings.has_questions:
        return []
    spec: JsonObject = {
        "group": FLEET,
        "version": FLEET_VERSION,
        "groupPriorityMinimum": 1000,
        "versionPriority": 15,
        "service": {"name": NAME, "namespace": settings.namespace, "port": QUESTIONS_PORT},
        **({"caBundle": _base64(ca_bundle)} if ca_bundle else {}),
    }
    return [
        {
            "apiVersion": "apiregistration.k8s.io/v1",
            "kind": "APIService",
            "metadata": {"name": API_SERVICE},
            "spec": spec,
        }
    ]


# ------------------------------------------------------------------------------------------------------ the webhooks


def _permissions(settings: HomeSettings, ca_bundle: bytes) -> list[JsonObject]:
    """What may never be passed by. Without policies in the API server, clusters and bindings are asked about too."""
    found = [
        _webhook(
            "sets.permissions.muster.dev",
            settings,
            PERMISSIONS,
            ca_bundle,
            [_rule(OCM, "managedclustersets")],
            {"a-membership-begins": f"{_IS_CREATED} || ({_MEMBERSHIP_BEGINS})"},
            fails=True,
        )
    ]
    if not settings.policies:
        found += [
            _webhook(
                "clusters.permissions.muster.dev",
                settings,
                PERMISSIONS,
                ca_bundle,
                [_rule(OCM, "managedclusters")],
                {"permissions-are-needed": f"{_IS_CREATED} || {_PERMISSIONS_OF_CLUSTERS}"},
                fails=True,
            ),
            _webhook(
                "bindings.permissions.muster.dev",
                settings,
                PERMISSIONS,
                ca_bundle,
                [_rule(OCM, "managedclustersetbindings", "CREATE")],
                {},
                fails=True,
            ),
            _approvals(settings, ca_bundle),
        ]
    return found


def _approvals(settings: HomeSettings, ca_bundle: bytes) -> JsonObject:
    return _webhook(
        "placements.permissions.muster.dev",
        settings,
        PERMISSIONS,
        ca_bundle,
        [_rule(OCM, "placements")],
        {"a-guard-lets-go": APPROVAL_NEEDED},
        fails=True,
    )


def _advice(settings: HomeSettings, ca_bundle: bytes) -> JsonObject:
    rules = [_rule(OCM, "placements")]
    if settings.mode == "alone":
        rules += [
            _rule(OCM, "managedclusters"),
            _rule(OCM, "managedclustersets"),
            _rule(OCM, "managedclustersetbindings"),
        ]
    rules += [_rule(RESOLUTIONS, "resolutions"), _rule(AGENTS, "agentclassifications")]
    changes = {"it-changes": f"{_IS_CREATED} || {_SPEC_CHANGES} || {_GUARDS_CHANGE}", "it-stays": _IS_STAYING}
    return _webhook("advice.muster.dev", settings, ADVICE, ca_bundle, rules, changes, fails=False)


def _defaults(settings: HomeSettings, ca_bundle: bytes) -> JsonObject:
    return _webhook(
        "defaults.muster.dev",
        settings,
        DEFAULTS,
        ca_bundle,
        [_rule(OCM, "managedclusters")],
        {"something-is-missing": _LACKS_DEFAULTS, "it-stays": _IS_STAYING},
        fails=False,
    )


def _configuration(kind: str, webhooks: list[JsonObject]) -> JsonObject:
    return {"apiVersion": _REGISTRATION, "kind": kind, "metadata": {"name": NAME}, "webhooks": webhooks}


def _webhook(
    name: str,
    settings: HomeSettings,
    path: str,
    ca_bundle: bytes,
    rules: list[JsonObject],
    conditions: dict[str, str],
    *,
    fails: bool,
) -> JsonObject:
    webhook: JsonObject = {
        "name": name,
        "clientConfig": _client(settings, path, ca_bundle),
        "rules": rules,
        "failurePolicy": "Fail" if fails else "Ignore",
        "matchPolicy": "Equivalent",
        "sideEffects": "None",
        "timeoutSeconds": _PATIENCE if fails else _SHORT_PATIENCE,
        "admissionReviewVersions": ["v1"],
    }
    if not fails:
        # Whatever repairs us must not wait for us. Permissions have no such gap.
        ours = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": [settings.namespace]}
        webhook["namespaceSelector"] = {"matchExpressions": [ours]}
    if conditions:
        webhook["matchConditions"] = [{"name": key, "expression": text} for key, text in conditions.items()]
    return webhook


def _rule(group: str, plural: str, *operations: str) -> JsonObject:
    """About the objects themselves, never about their status. Other versions are converted for us."""
    return {
        "apiGroups": [group],
        "apiVersions": [RESOURCES[f"{plural}.{group}"].storage_version.name],
        "resources": [plural],
        "operations": list(operations or ("CREATE", "UPDATE")),
        "scope": "*",
    }


def _client(settings: HomeSettings, path: str, ca_bundle: bytes) -> JsonObject:
    service = {"namespace": settings.namespace, "name": NAME, "path": path, "port": _WEBHOOK_SERVICE_PORT}
    return {"service": service, **({"caBundle": _base64(ca_bundle)} if ca_bundle else {})}


def _base64(pem: bytes) -> str:
    return base64.b64encode(pem).decode()
