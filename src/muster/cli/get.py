"""`muster get`: objects as the server prints them, or as JSON, YAML and names; `--watch` goes on."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.inputs.options import (
    AllNamespaces,
    Context,
    Kubeconfig,
    Namespace,
    Output,
    OutputFormat,
    Selector,
    with_client,
)
from muster.cli.terminal.output import TablePrinter, print_json, print_yaml
from muster.errors import InvalidObjectError
from muster.values.api_paths import by_name
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.client import Client, ServedResource


def command(
    resource: Annotated[str, typer.Argument(help="Resource: plural, singular, short name, or TYPE/NAME.")],
    names: Annotated[list[str] | None, typer.Argument(help="Names; all when left out.")] = None,
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    selector: Selector = "",
    field_selector: Annotated[str, typer.Option("--field-selector", help="Such as metadata.name=c1.")] = "",
    output: OutputFormat = Output.TABLE,
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Print changes as they come.")] = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Show objects.

    Examples: muster get managedclusters -l cloud=Amazon; muster get placement/checkout -n apps -o yaml
    """
    kind, _, name = resource.partition("/")
    wanted = [name, *(names or [])] if name else list(names or [])
    if wanted and (selector or field_selector):
        raise InvalidObjectError("", "names and selectors do not go together")
    query = {"labelSelector": selector, "fieldSelector": field_selector}

    async def work(client: Client) -> None:
        served = (await client.discover()).named(kind)
        where = "" if all_namespaces else namespace or client.connection.namespace
        view = _View(client, served, where, output)
        if wanted:
            await view.print_named(wanted)
        else:
            await view.print_all({key: value for key, value in query.items() if value})
        if watch:
            await view.follow(wanted, {key: value for key, value in query.items() if value})

    with_client(work, context, kubeconfig)


class _View:
    """One resource, as one user asked to see it."""

    def __init__(self, client: Client, resource: ServedResource, namespace: str, output: Output) -> None:
        from muster.client.client import JSON, TABLE

        self._client = client
        self._resource = resource
        self._namespace = namespace
        self._output = output
        self._tabular = output in (Output.TABLE, Output.WIDE)
        self._accept = TABLE if self._tabular else JSON
        self._table = TablePrinter(wide=output is Output.WIDE, with_namespace=resource.namespaced and not namespace)
        self._version = ""

    async def print_named(self, names: list[str]) -> None:
        if self._resource.namespaced and not self._namespace:
            raise InvalidObjectError("", "a name cannot be looked up in all namespaces; give one with -n")
        answers = [
            (
                await self._client.request(
                    "GET", self._resource.object_path(self._namespace, name), accept=self._accept
                )
            ).json()
            for name in names
        ]
        self._version = answers[-1].get("metadata", {}).get("resourceVersion", "")
        if self._tabular:
            for answer in answers:
                self._print_table(answer)
        elif len(answers) == 1:
            self._print_objects(answers, single=True)
        else:
            self._print_objects(answers)

    async def print_all(self, query: dict[str, str]) -> None:
        items: list[JsonObject] = []
        found = False
        async for page in self._client.pages(self._resource.path(self._namespace), params=query, accept=self._accept):
            self._version = page.get("metadata", {}).get("resourceVersion", "")
            if self._tabular:
                found = found or bool(page.get("rows") or page.get("items"))
                self._print_table(page)
            elif self._output is Output.NAME:
                self._print_objects(page["items"])
            else:
                items += page["items"]
        if self._tabular and not found:
            place = f" in {self._namespace} namespace" if self._resource.namespaced and self._namespace else ""
            sys.stderr.write(f"No resources found{place}\n")
        elif not self._tabular and self._output is not Output.NAME:
            for item in items:  # items of a list carry no kind of their own on some servers
                item.setdefault("apiVersion", self._resource.api_version)
                item.setdefault("kind", self._resource.kind)
            self._print_objects(items)

    async def follow(self, names: list[str], query: dict[str, str]) -> None:
        """Print every change after what was listed. When the server ends the watch, go on from there."""
        path = self._resource.path(self._namespace)
        if len(names) > 1:
            raise InvalidObjectError("", "watch one name or all of them")
        if names:
            query = by_name(names[0])
        while True:
            params = {**query, "resourceVersion": self._version, "allowWatchBookmarks": "true"}
            async for event in self._client.watch(path, params=params, accept=self._accept):
                if event.type == "ERROR":
                    raise InvalidObjectError("", str(event.object.get("message", "the watch failed")))
                self._version = _revision(event.object) or self._version
                if event.type != "BOOKMARK":
                    if self._tabular:
                        self._print_table(event.object)
                    else:
                        self._print_objects([event.object], single=True)

    def _print_table(self, answer: JsonObject) -> None:
        if answer.get("kind") == "Table":
            self._table.print(answer)
            return
        # A server that cannot make tables: names are better than nothing.
        items = answer.get("items", [answer])
        columns = [{"name": "Name"}]
        self._table.print(
            {
                "columnDefinitions": columns,
                "rows": [{"cells": [item["metadata"]["name"]], "object": item} for item in items],
            }
        )

    def _print_objects(self, objects: list[JsonObject], *, single: bool = False) -> None:
        if self._output is Output.NAME:
            for obj in objects:
                sys.stdout.write(f"{self._resource.full_name}/{obj['metadata']['name']}\n")
            sys.stdout.flush()
            return
        whole = objects[0] if single else {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": objects}
        if self._output is Output.JSON:
            print_json(whole)
        else:
            if single and self._version:
                sys.stdout.write("---\n" if sys.stdout.isatty() else "")
            print_yaml(whole)
        sys.stdout.flush()


def _revision(obj: JsonObject) -> str:
    if obj.get("kind") == "Table":
        rows = obj.get("rows") or [{}]
        return str(
            rows[-1].get("object", {}).get("metadata", {}).get("resourceVersion", "")
            or obj.get("metadata", {}).get("resourceVersion", "")
        )
    return str(obj.get("metadata", {}).get("resourceVersion", ""))
