"""Paths of requests: built in one place, from names that nobody can turn into something else."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import muster
from muster.client import Client, Connection
from muster.client.discovery import ServedResource
from muster.errors import InvalidObjectError
from muster.values.api_paths import by_label, by_name, checked, collection_path, object_path

SOURCE = Path(muster.__file__).parent
CONFIG_MAPS = ServedResource("", "v1", "configmaps", "configmap", "ConfigMap", namespaced=True)
CLUSTERS = ServedResource("cluster.open-cluster-management.io", "v1", "managedclusters", "", "ManagedCluster", False)
# Modules that send requests. The hub answers them and has paths of its own.
SENDERS = ("client", "controllers", "cli", "demo", "app.py")
METHODS = {"request", "pages", "watch", "watch_lines"}


def test_an_object_and_its_collection_have_the_usual_paths() -> None:
    assert CONFIG_MAPS.path() == "/api/v1/configmaps"
    assert CONFIG_MAPS.path("apps") == "/api/v1/namespaces/apps/configmaps"
    assert CONFIG_MAPS.object_path("apps", "c") == "/api/v1/namespaces/apps/configmaps/c"
    assert CLUSTERS.object_path("ignored", "c", "status").endswith("/v1/managedclusters/c/status")


@pytest.mark.parametrize("name", ["?watch=true&x=", "a#b", "a b", "a?b", "ä", "\n", "a\x00b", "a:b", "a;b"])
def test_a_name_that_looks_like_something_else_stays_a_name(name: str) -> None:
    path = CONFIG_MAPS.object_path("apps", name)
    assert checked(path) == path
    assert path.startswith("/api/v1/namespaces/apps/configmaps/")
    assert not set(path) & set("?# \n\x00")


@pytest.mark.parametrize("name", ["", ".", "..", "../secrets", "a/b", "/", "%2e%2e", "a%2Fb", "\udcff"])
def test_what_can_be_no_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidObjectError):
        CONFIG_MAPS.object_path("apps", name)
    with pytest.raises(InvalidObjectError):
        CLUSTERS.object_path("", name)
    if name:
        with pytest.raises(InvalidObjectError):
            CONFIG_MAPS.object_path(name, "c")


def test_an_object_in_a_namespace_needs_one() -> None:
    with pytest.raises(InvalidObjectError, match="are in namespaces"):
        CONFIG_MAPS.object_path("", "c")


@given(st.text(max_size=20), st.text(max_size=20))
def test_whatever_the_names_are_a_path_has_as_many_parts_as_it_should(namespace: str, name: str) -> None:
    try:
        path = object_path("g", "v1", "things", namespace, name)
    except InvalidObjectError:
        return
    assert len(path.split("/")) == (8 if namespace else 6)
    assert checked(path) == path


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/configmaps?watch=true",
        "/api/v1/namespaces/a/configmaps/../secrets",
        "/api/v1/./configmaps",
        "/api//v1",
        "/api/v1/%2e%2e/x",
        "/api/v1/a%2fb",
        "/api/v1/a%252fb",
        "/api/v1/x#y",
        "/api/v1/x y",
        "api/v1",
        "@elsewhere/api",
        ":1@elsewhere/",
        "",
        "/",
    ],
)
def test_the_client_sends_nothing_that_is_more_than_a_path(path: str) -> None:
    async def send() -> None:
        async with Client(Connection("http://127.0.0.1:1")) as client:
            await client.request("GET", path)

    with pytest.raises(InvalidObjectError, match="is not the path of a request"):
        asyncio.run(send())


@pytest.mark.parametrize(
    ("server", "sent"),
    [
        ("https://hub.example:6443", "https://hub.example:6443/api/v1/namespaces/a/configmaps/%3Fx"),
        ("https://hub.example/k8s/one/", "https://hub.example/k8s/one/api/v1/namespaces/a/configmaps/%3Fx"),
        ("https://[::1]:1", "https://[::1]:1/api/v1/namespaces/a/configmaps/%3Fx"),
        ("https://bücher.example", "https://xn--bcher-kva.example/api/v1/namespaces/a/configmaps/%3Fx"),
    ],
)
def test_a_path_is_sent_as_it_is_spelled_to_whatever_server(server: str, sent: str) -> None:
    async def url() -> str:
        async with Client(Connection(server)) as client:
            return str(client._url(CONFIG_MAPS.object_path("a", "?x")))

    assert asyncio.run(url()) == sent


def test_names_in_selectors_select_one_name() -> None:
    assert by_name("a,metadata.namespace=b") == {"fieldSelector": r"metadata.name=a\,metadata.namespace\=b"}
    assert by_label("example.com/tier") == {"labelSelector": "example.com/tier"}
    with pytest.raises(InvalidObjectError):
        by_label("a,b in (c)")


def test_collections_of_a_namespace_quote_it() -> None:
    assert collection_path("", "v1", "events", "a?b") == "/api/v1/namespaces/a%3Fb/events"


def test_no_other_module_puts_a_path_together() -> None:
    found = [
        f"{file.relative_to(SOURCE)}:{line}"
        for sender in SENDERS
        for file in ([SOURCE / sender] if sender.endswith(".py") else sorted((SOURCE / sender).rglob("*.py")))
        for line in composed_paths(ast.parse(file.read_text()))
    ]
    assert not found, f"build paths with muster.values.api_paths: {found}"


@pytest.mark.parametrize(
    "code",
    [
        'f"/apis/{group}/v1"',
        'x = f"{base}/namespaces/{ns}/pods"',
        '"/api/v1/namespaces/{}".format(ns)',
        '"/api/v1/namespaces/" + ns',
        '"/api/v1/namespaces/%s" % ns',
        'client.request("GET", f"{_PATH}/{name}")',
        'client.request("GET", base + name)',
        'client.pages(f"{base}/{name}")',
        'self._client.watch_lines(path=f"{base}/{name}")',
        '"/".join([base, name])',
    ],
)
def test_the_search_for_such_modules_finds_them(code: str) -> None:
    assert list(composed_paths(ast.parse(code)))


def composed_paths(tree: ast.AST) -> list[int]:
    """Lines where text becomes a path without the module for it."""
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.expr):
            continue
        if isinstance(node, ast.JoinedStr):
            suspicious = any(_is_path(each) for each in node.values)
        elif isinstance(node, ast.BinOp):
            suspicious = _is_path(node.left) or _is_path(node.right)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            texts = [*node.args, *(each.value for each in node.keywords if each.arg == "path")]
            sends = node.func.attr in METHODS and any(isinstance(each, ast.JoinedStr | ast.BinOp) for each in texts)
            formats = node.func.attr in {"format", "join"} and (
                _is_path(node.func.value) or _constant(node.func.value) == "/"
            )
            suspicious = sends or formats
        else:
            suspicious = False
        if suspicious:
            lines.append(node.lineno)
    return lines


def _constant(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def _is_path(node: ast.AST) -> bool:
    text = _constant(node)
    return text.startswith(("/api/", "/apis/")) or "/namespaces/" in text
