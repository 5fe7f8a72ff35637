"""One kind as `muster get` shows it: the server's table with columns of labels, or the objects themselves."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.cli.get.sorting import field_path, in_order
from muster.cli.inputs.options import Output
from muster.cli.terminal.output import TablePrinter, print_json, print_yaml
from muster.errors import InvalidObjectError
from muster.values.api_paths import by_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.client import Client, ServedResource
    from muster.values.json import JsonObject


@dataclass(frozen=True, slots=True)
class Look:
    """How it shall look."""

    output: Output
    labels: tuple[str, ...] = ()
    sort_by: str = ""
    headers: bool = True

    @property
    def tabular(self) -> bool:
        return self.output in (Output.TABLE, Output.WIDE)

    @property
    def whole(self) -> bool:
        """Whether the field to sort by is beyond what comes with a table."""
        return bool(self.sort_by) and field_path(self.sort_by)[0] != "metadata"


async def print_lists(views: Sequence[tuple[View, tuple[str, ...]]], query: dict[str, str]) -> None:
    """Everything that was asked for: tables one after the other, objects as one list."""
    objects: list[JsonObject] = []
    found = False
    for view, names in views:
        shown = await (view.print_named(names) if names else view.print_all(query, apart=found))
        found = found or shown
        objects += view.objects
    single = len(views) == 1 and len(views[0][1]) == 1
    look, last = views[0][0].look, views[-1][0]
    if look.output in (Output.JSON, Output.YAML):
        last.print_objects(objects, single=single)
    elif look.tabular and not found:
        sys.stderr.write(f"No resources found{last.place}\n")


class View:
    """One resource, as one user asked to see it."""

    def __init__(
        self, client: Client, resource: ServedResource, namespace: str, look: Look, among_others: bool
    ) -> None:
        from muster.client.client import JSON, TABLE

        self.look = look
        self.objects: list[JsonObject] = []  # what is to be printed as one
        self._client = client
        self._resource = resource
        self._namespace = namespace
        self._accept = TABLE if look.tabular else JSON
        self._params = {"includeObject": "Object"} if look.tabular and look.whole else {}
        self._table = TablePrinter(
            wide=look.output is Output.WIDE,
            with_namespace=resource.namespaced and not namespace,
            kind=f"{resource.singular or resource.kind.lower()}.{resource.group}".rstrip(".") if among_others else "",
            labels=look.labels,
            headers=look.headers,
        )
        self._version = ""

    @property
    def place(self) -> str:
        return f" in {self._namespace} namespace" if self._resource.namespaced and self._namespace else ""

    async def print_named(self, names: Sequence[str]) -> bool:
        if self._resource.namespaced and not self._namespace:
            raise InvalidObjectError("", "a name cannot be looked up in all namespaces; give one with -n")
        answers = []
        for name in names:
            path = self._resource.object_path(self._namespace, name)
            answers.append((await self._client.request("GET", path, params=self._params, accept=self._accept)).json())
        self._version = _revision(answers[-1])
        if not self.look.tabular:
            self._keep(answers)
        else:
            tables = [self._as_table(each) for each in answers]
            rows = [row for table in tables for row in table["rows"]]
            self._print_rows({**tables[0], "rows": rows})
        return True

    async def print_all(self, query: dict[str, str], *, apart: bool = False) -> bool:
        """Whether there was anything."""
        found = False
        waiting: list[JsonObject] = []
        table: JsonObject = {}
        params = {**query, **self._params}
        async for page in self._client.pages(self._resource.path(self._namespace), params=params, accept=self._accept):
            self._version = page.get("metadata", {}).get("resourceVersion", "")
            if not self.look.tabular:
                waiting += page["items"]
                continue
            made = self._as_table(page)
            table = table or made
            if self.look.sort_by:
                waiting += made["rows"]
                continue
            if made["rows"] and apart and not found:
                sys.stdout.write("\n")
            found = found or bool(made["rows"])
            self._table.print({**table, "rows": made["rows"]})
        if not self.look.tabular:
            self._keep(waiting)
        elif waiting:
            sys.stdout.write("\n" if apart else "")
            self._print_rows({**table, "rows": waiting})
        return found or bool(waiting)

    async def follow(self, names: Sequence[str], query: dict[str, str]) -> None:
        """Print every change after what was listed. When the server ends the watch, go on from there."""
        path = self._resource.path(self._namespace)
        if len(names) > 1:
            raise InvalidObjectError("--watch", "watch one kind, and one name or all of them")
        if names:
            query = by_name(names[0])
        while True:
            params = {**query, "resourceVersion": self._version, "allowWatchBookmarks": "true"}
            async for event in self._client.watch(path, params=params, accept=self._accept):
                if event.type == "ERROR":
                    raise InvalidObjectError("", str(event.object.get("message", "the watch failed")))
                self._version = _revision(event.object) or self._version
                if event.type == "BOOKMARK":
                    continue
                if self.look.tabular:
                    self._table.print(self._as_table(event.object))
                else:
                    self.print_objects([event.object], single=True)

    def _print_rows(self, table: JsonObject) -> None:
        rows = table["rows"]
        if self.look.sort_by:
            rows = in_order(rows, field_path(self.look.sort_by), lambda row: row.get("object"))
        self._table.print({**table, "rows": rows})

    def _keep(self, items: list[JsonObject]) -> None:
        """Objects to print when all are known; names at once, unless they have to be put in order first."""
        for item in items:  # items of a list carry no kind of their own on some servers
            item.setdefault("apiVersion", self._resource.api_version)
            item.setdefault("kind", self._resource.kind)
        if self.look.sort_by:
            items = in_order(items, field_path(self.look.sort_by), lambda item: item)
        if self.look.output is Output.NAME:
            self.print_objects(items)
        else:
            self.objects += items

    def _as_table(self, answer: JsonObject) -> JsonObject:
        if answer.get("kind") == "Table":
            return {**answer, "rows": answer.get("rows", [])}
        # A server that cannot make tables: names are better than nothing.
        items = answer.get("items", [answer])
        rows = [{"cells": [item["metadata"]["name"]], "object": item} for item in items]
        return {"columnDefinitions": [{"name": "Name"}], "rows": rows}

    def print_objects(self, objects: list[JsonObject], *, single: bool = False) -> None:
        if self.look.output is Output.NAME:
            for obj in objects:
                sys.stdout.write(f"{self._resource.full_name}/{obj['metadata']['name']}\n")
            sys.stdout.flush()
            return
        whole = objects[0] if single else {"apiVersion": "v1", "kind": "List", "metadata": {}, "items": objects}
        if self.look.output is Output.JSON:
            print_json(whole)
        else:
            if single and self._version:
                sys.stdout.write("---\n" if sys.stdout.isatty() else "")
            print_yaml(whole)
        sys.stdout.flush()


def _revision(obj: JsonObject) -> str:
    """That of an object or, of a table, of its last row."""
    own = str(obj.get("metadata", {}).get("resourceVersion", ""))
    rows = obj.get("rows", []) if obj.get("kind") == "Table" else []
    last = rows[-1].get("object", {}).get("metadata", {}).get("resourceVersion", "") if rows else ""
    return str(last) or own
