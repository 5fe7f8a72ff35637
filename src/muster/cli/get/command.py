"""`muster get`: objects as the server prints them, or as JSON, YAML and names; `--watch` goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from muster.cli.completion.answers import field_selectors, kinds_and_names, label_keys, names, output_formats
from muster.cli.get.targets import targets
from muster.cli.get.view import Look, View, print_lists
from muster.cli.inputs.options import (
    OUTPUT,
    AllNamespaces,
    Context,
    Kubeconfig,
    Namespace,
    Output,
    Selector,
    with_client,
)
from muster.cli.kubectl import kubectl_line
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from muster.client import Client

_LEFT_TO_KUBECTL: Final = (
    "jsonpath",
    "jsonpath-as-json",
    "jsonpath-file",
    "custom-columns",
    "custom-columns-file",
    "go-template",
    "go-template-file",
    "template",
    "templatefile",
    "kyaml",
)
_FORMATS: Final = "|".join(Output)


def command(
    ctx: typer.Context,
    resource: Annotated[
        str,
        typer.Argument(
            metavar="KIND[,KIND]",
            help="What to show: plural, singular or short name, several with commas, or KIND/NAME.",
            autocompletion=kinds_and_names,
        ),
    ],
    name: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Names; all when left out.", autocompletion=names)
    ] = None,
    namespace: Namespace = None,
    all_namespaces: AllNamespaces = False,
    selector: Selector = "",
    field_selector: Annotated[
        str,
        typer.Option(
            "--field-selector",
            metavar="FIELDS",
            help="Only objects whose fields are so, such as metadata.name=c1.",
            autocompletion=field_selectors,
        ),
    ] = "",
    watch: Annotated[bool, typer.Option("--watch", "-w", help="Go on and print changes as they come.")] = False,
    output: Annotated[
        str,
        typer.Option(
            "--output",
            "-o",
            metavar=_FORMATS,
            help="How to print. For jsonpath and custom-columns use kubectl.",
            autocompletion=output_formats,
            rich_help_panel=OUTPUT,
        ),
    ] = Output.TABLE.value,
    label_columns: Annotated[
        list[str] | None,
        typer.Option(
            "--label-columns",
            "-L",
            metavar="LABEL",
            help="A column for this label; several with commas.",
            autocompletion=label_keys,
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    sort_by: Annotated[
        str,
        typer.Option(
            "--sort-by",
            metavar="FIELD",
            help="Order by a field, such as .metadata.creationTimestamp.",
            rich_help_panel=OUTPUT,
        ),
    ] = "",
    no_headers: Annotated[
        bool, typer.Option("--no-headers", help="No line with the names of columns.", rich_help_panel=OUTPUT)
    ] = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Show objects of one kind or several.

    Examples:
      muster get managedclusters -l cloud=Amazon -L region,version
      muster get placements,placementdecisions -n apps
      muster get placement/checkout -n apps -o yaml
      muster get managedclusters --sort-by .metadata.creationTimestamp -o name
    """
    wanted = targets(resource, name or [])
    query = {key: value for key, value in (("labelSelector", selector), ("fieldSelector", field_selector)) if value}
    if query and any(each.names for each in wanted):
        raise InvalidObjectError("", "names and selectors do not go together")
    labels = tuple(key.strip() for each in label_columns or () for key in each.split(",") if key.strip())
    look = Look(_output(output, ctx), labels, sort_by, headers=not no_headers)
    if watch and sort_by:
        raise InvalidObjectError("--sort-by", "a watch prints changes as they come, in no other order")

    async def work(client: Client) -> None:
        found = (await client.discover()).resources_of
        chosen = [(each, resource) for each in wanted for resource in found(each.kind)]
        if watch and len(chosen) > 1:
            raise InvalidObjectError("--watch", "watch one kind, and one name or all of them")
        where = "" if all_namespaces else namespace or client.connection.namespace
        views = [(each, View(client, resource, where, look, len(chosen) > 1)) for each, resource in chosen]
        await print_lists([(view, each.names) for each, view in views], query)
        for each, view in views:
            if watch:
                await view.follow(each.names, query)

    with_client(work, context, kubeconfig)


def _output(text: str, ctx: typer.Context) -> Output:
    """How to print. What kubectl can and we cannot is refused with the line that does it."""
    if text in list(Output):
        return Output(text)
    if text.partition("=")[0] in _LEFT_TO_KUBECTL:
        line = kubectl_line(ctx.find_root().obj or ["get"])
        raise InvalidObjectError("--output", f"{text.partition('=')[0]} is left to kubectl: {line}")
    raise InvalidObjectError("--output", f"{text!r} is none of {', '.join(Output)}; kubectl has more")
