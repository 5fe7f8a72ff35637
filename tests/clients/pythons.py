"""Python clients: kubernetes, lightkube and kr8s, each in its own way of saying things."""

from __future__ import annotations

import importlib
import importlib.util
import time
from typing import TYPE_CHECKING, Any

from tests.clients import made
from tests.clients.matrix import CannotBeHadError, Client

if TYPE_CHECKING:
    from pathlib import Path


def _needed(module: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise CannotBeHadError(f"the package {module} is not installed here")


def _untyped(module: str) -> Any:
    """A package that says of its types less than we ask for, or is not always there."""
    return importlib.import_module(module)


def _until(check: Any) -> None:
    until = time.monotonic() + 30
    while not check():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.2)


def kubernetes_client(kubeconfig: Path) -> Client:
    """The official client: typed kinds, and its dynamic client for the others."""
    _needed("kubernetes")
    kubernetes = _untyped("kubernetes")
    configuration = kubernetes.client.Configuration()
    kubernetes.config.load_kube_config(str(kubeconfig), client_configuration=configuration)
    api = kubernetes.client.ApiClient(configuration)
    core = kubernetes.client.CoreV1Api(api)
    certificates = kubernetes.client.CertificatesV1Api(api)
    dynamic = _untyped("kubernetes.dynamic").DynamicClient(api)
    own, place = "kubernetes-py", "default"

    def discover() -> None:
        assert dynamic.resources.get(api_version=f"{made.OCM}/v1", kind="ManagedCluster").namespaced is False

    def listed() -> None:
        found = core.list_namespaced_config_map(place, label_selector=f"client={own}").items
        assert [each.metadata.name for each in found] == [own]

    def update() -> None:
        found = core.read_namespaced_config_map(own, place)
        found.data = {"a": "2"}
        assert core.replace_namespaced_config_map(own, place, found).data == {"a": "2"}

    def patch() -> None:
        assert core.patch_namespaced_config_map(own, place, {"data": {"b": "1"}}).data == {"a": "2", "b": "1"}

    def apply() -> None:
        maps = dynamic.resources.get(api_version="v1", kind="ConfigMap")
        body = made.config_map(f"{own}-applied", a="1")
        maps.server_side_apply(body=body, name=f"{own}-applied", namespace=place, field_manager="matrix")

    def watch() -> None:
        revision = core.list_namespaced_config_map(place).metadata.resource_version
        core.patch_namespaced_config_map(own, place, {"data": {"c": "1"}})
        follow = kubernetes.watch.Watch()
        seen = follow.stream(core.list_namespaced_config_map, place, resource_version=revision, timeout_seconds=3)
        assert [(event["type"], event["object"].metadata.name) for event in seen] == [("MODIFIED", own)]

    def delete() -> None:
        core.delete_namespaced_config_map(own, place)
        assert not core.list_namespaced_config_map(place, label_selector=f"client={own}").items
        core.delete_collection_namespaced_config_map(place, label_selector=f"client={own}-applied")

    def custom() -> None:
        clusters = dynamic.resources.get(api_version=f"{made.OCM}/v1", kind="ManagedCluster")
        clusters.create(body=made.cluster(own))
        clusters.delete(name=own)

    def events() -> None:
        kubernetes.client.EventsV1Api(api).create_namespaced_event(place, made.event(own))
        assert core.read_namespaced_event(own, place).message == f"seen by {own}"

    def certificate() -> None:
        certificates.create_certificate_signing_request(made.signing_request(own))
        found = certificates.read_certificate_signing_request(own)
        found.status = kubernetes.client.V1CertificateSigningRequestStatus(
            conditions=[
                kubernetes.client.V1CertificateSigningRequestCondition(
                    type="Approved", status="True", reason="Matrix", message="tried"
                )
            ]
        )
        certificates.replace_certificate_signing_request_approval(own, found)
        _until(lambda: certificates.read_certificate_signing_request(own).status.certificate)

    return Client(
        "kubernetes (Python)",
        {
            "version": lambda: _same(kubernetes.client.VersionApi(api).get_code().major, "1"),
            "discover": discover,
            "create": lambda: core.create_namespaced_config_map(place, made.config_map(own, a="1")),
            "get": lambda: _same(core.read_namespaced_config_map(own, place).data, {"a": "1"}),
            "list": listed,
            "update": update,
            "patch": patch,
            "apply": apply,
            "watch": watch,
            "delete": delete,
            "custom": custom,
            "events": events,
            "certificate": certificate,
        },
    )


def lightkube_client(kubeconfig: Path) -> Client:
    _needed("lightkube")
    lightkube = _untyped("lightkube")
    create_global_resource = _untyped("lightkube.generic_resource").create_global_resource
    CertificateSigningRequest = _untyped("lightkube.resources.certificates_v1").CertificateSigningRequest  # noqa: N806
    ConfigMap = _untyped("lightkube.resources.core_v1").ConfigMap  # noqa: N806
    Event = _untyped("lightkube.resources.events_v1").Event  # noqa: N806
    PatchType = _untyped("lightkube.types").PatchType  # noqa: N806
    client = lightkube.Client(config=lightkube.KubeConfig.from_file(str(kubeconfig)), field_manager="matrix")
    kind = create_global_resource(made.OCM, "v1", "ManagedCluster", "managedclusters")
    own = "lightkube"

    def a_map(name: str = own, **data: str) -> Any:
        return ConfigMap.from_dict(made.config_map(name, **data))

    def update() -> None:
        found = client.get(ConfigMap, own, namespace="default")
        found.data = {"a": "2"}
        assert client.replace(found).data == {"a": "2"}

    def patch() -> None:
        found = client.patch(ConfigMap, own, {"data": {"b": "1"}}, namespace="default", patch_type=PatchType.MERGE)
        assert found.data == {"a": "2", "b": "1"}

    def watch() -> None:
        revision = client.get(ConfigMap, own, namespace="default").metadata.resourceVersion
        client.patch(ConfigMap, own, {"data": {"c": "1"}}, namespace="default", patch_type=PatchType.MERGE)
        for verb, obj in client.watch(
            ConfigMap, namespace="default", labels={"client": own}, resource_version=revision
        ):
            assert (verb, obj.metadata.name) == ("MODIFIED", own)
            break

    def custom() -> None:
        client.create(kind.from_dict(made.cluster(own)))
        client.delete(kind, own)

    def events() -> None:
        client.create(Event.from_dict(made.event(own)))
        assert client.get(Event, own, namespace="default").note == f"seen by {own}"

    def certificate() -> None:
        created = client.create(CertificateSigningRequest.from_dict(made.signing_request(own)))
        approved = CertificateSigningRequest.from_dict(made.approved(created.to_dict()))
        client.replace(CertificateSigningRequest.Approval.from_dict(approved.to_dict()), name=own)
        _until(lambda: client.get(CertificateSigningRequest, own).status.certificate)

    return Client(
        "lightkube",
        {
            "create": lambda: client.create(a_map(a="1")) and None,
            "get": lambda: _same(client.get(ConfigMap, own, namespace="default").data, {"a": "1"}),
            "list": lambda: _same(
                [
                    each.metadata.name
                    for each in client.list(ConfigMap, namespace="default", labels={"client": own})
                    if each.metadata
                ],
                [own],
            ),
            "update": update,
            "patch": patch,
            "apply": lambda: client.apply(a_map(f"{own}-applied", a="1"), force=True) and None,
            "watch": watch,
            "delete": lambda: client.delete(ConfigMap, own, namespace="default"),
            "custom": custom,
            "events": events,
            "certificate": certificate,
        },
    )


def kr8s_client(kubeconfig: Path) -> Client:
    _needed("kr8s")
    kr8s, objects = _untyped("kr8s"), _untyped("kr8s.objects")
    ConfigMap, new_class = objects.ConfigMap, objects.new_class  # noqa: N806
    api = kr8s.api(kubeconfig=str(kubeconfig))
    own = "kr8s"

    def the_map() -> Any:
        return ConfigMap.get(own, namespace="default", api=api)

    def watch() -> None:
        for verb, obj in api.watch("configmaps", namespace="default", label_selector=f"client={own}"):
            assert (verb, obj.name) == ("ADDED", own)
            break

    def custom() -> None:
        kind = new_class("ManagedCluster", version=f"{made.OCM}/v1", namespaced=False)
        made_one = kind(made.cluster(own), api=api)
        made_one.create()
        made_one.delete()

    def events() -> None:
        kind = new_class("Event", version="events.k8s.io/v1", namespaced=True)
        kind(made.event(own), api=api).create()
        assert any(each.name == own for each in api.get("events", namespace="default"))

    return Client(
        "kr8s",
        {
            "version": lambda: _same(api.version()["major"], "1"),
            "discover": lambda: _same(any(each["name"] == "placements" for each in api.api_resources()), True),
            "create": lambda: ConfigMap(made.config_map(own, a="1"), api=api).create(),
            "get": lambda: _same(dict(the_map().data), {"a": "1"}),
            "list": lambda: _same(
                [each.name for each in api.get("configmaps", namespace="default", label_selector=f"client={own}")],
                [own],
            ),
            "patch": lambda: the_map().patch({"data": {"b": "1"}}),
            "watch": watch,
            "delete": lambda: the_map().delete(),
            "custom": custom,
            "events": events,
        },
    )


def _same(found: object, wanted: object) -> None:
    assert found == wanted, f"{found!r} instead of {wanted!r}"
