"""Where a cluster runs and what it is, as OCM's users know it: the values of two claims and of two labels.

Both are jq over what is known of a cluster: the version tells managed offerings apart, the provider of a node the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_KNOWN: Final = (
    '(.version | ascii_upcase) as $v | ([.nodes[]?.providerID | split(":")[0] | select(. != "")] | first // "") as $p '
    '| ([.nodes[]?.architecture] | first // "") as $arch | '
)
PLATFORM: Final = (
    _KNOWN + 'if ($v | contains("IKS") or contains("ICP")) then "IBM" '
    'elif ($v | contains("EKS")) then "AWS" elif ($v | contains("GKE")) then "GCP" '
    "elif .nodes == null then empty "
    'elif $arch == "s390x" then "IBMZPlatform" elif $arch == "ppc64le" then "IBMPowerPlatform" '
    'else {aws: "AWS", azure: "Azure", gce: "GCP", ibm: "IBM", ibmcloud: "IBM", vsphere: "VSphere", '
    'openstack: "OpenStack"}[$p] // "Other" end'
)
PRODUCT: Final = (
    _KNOWN + 'if ($v | contains("IKS")) then "IKS" elif ($v | contains("ICP")) then "ICP" '
    'elif ($v | contains("EKS")) then "EKS" elif ($v | contains("GKE")) then "GKE" '
    'elif .openshift != null then "OpenShift" elif .nodes == null then empty '
    'elif $p == "azure" then "AKS" else "Other" end'
)
_CLOUDS: Final[Mapping[str, str]] = {
    "AWS": "Amazon",
    "Azure": "Azure",
    "GCP": "Google",
    "IBM": "IBM",
    "IBMZPlatform": "IBM",
    "IBMPowerPlatform": "IBM",
    "VSphere": "VSphere",
    "OpenStack": "OpenStack",
}


def labels_of(claims: Mapping[str, str]) -> dict[str, str]:
    """The labels that a cluster has by what it is: `cloud` and `vendor`, where they are known."""
    found = {}
    if cloud := _CLOUDS.get(claims.get("platform.open-cluster-management.io", "")):
        found["cloud"] = cloud
    product = claims.get("product.open-cluster-management.io", "Other")
    if product != "Other" and product.isalnum():
        found["vendor"] = product
    return found
