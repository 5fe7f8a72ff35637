"""What can stand at a place of the command line: kinds, names, namespaces, contexts, formats, environments.

Options and arguments name one of these functions. They are called when a shell asks, get what was typed so far, and
say nothing when they do not know; then the shell completes files.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from muster.cli.inputs.fields import items_of, text_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from muster.cli.completion.server import Server
    from muster.client.discovery import Discovery, ServedResource
    from muster.values.json import JsonObject

Answers = list[str] | list[tuple[str, str]]


def contexts(ctx: typer.Context, incomplete: str) -> Answers:
    """Contexts of the kubeconfig."""
    from muster.client.kubeconfig import context_names
    from muster.errors import MusterError

    try:
        return _beginning(context_names(ctx.params.get("kubeconfig")), incomplete)
    except MusterError:
        return []


def namespaces(ctx: typer.Context, incomplete: str) -> Answers:
    """Namespaces of the server."""
    from muster.cli.completion.server import asking

    found: list[str] = []
    with asking(*_where(ctx)) as server:
        if server is not None:
            found += _collected(server, "/api/v1/namespaces", incomplete)
    return found


def kinds(ctx: typer.Context, incomplete: str) -> Answers:
    """Kinds, several with commas between them."""
    before, comma, last = incomplete.rpartition(",")
    return [(f"{before}{comma}{name}", told) for name, told in _kinds(ctx, last)]


def kinds_and_names(ctx: typer.Context, incomplete: str) -> Answers:
    """Kinds, or after a slash the names of one."""
    kind, slash, name = incomplete.partition("/")
    if not slash:
        return kinds(ctx, incomplete)
    return [f"{kind}/{found}" for found in _names(ctx, lambda discovery: discovery.named(kind), name)]


def names(ctx: typer.Context, incomplete: str) -> Answers:
    """Names of the kind that was typed before; or KIND/NAME, if that was one."""
    kind = str(ctx.params.get("resource", ""))
    if "/" in kind:
        return kinds_and_names(ctx, incomplete)
    taken = {each for key in ("name", "names") for each in items_of(ctx.params, key)}
    found = _names(ctx, lambda discovery: discovery.named(kind.partition(",")[0]), incomplete)
    return [each for each in found if each not in taken]


def names_of(kind: str) -> Callable[[typer.Context, str], Answers]:
    """Names of one kind, whatever was typed."""

    def found(ctx: typer.Context, incomplete: str) -> Answers:
        return _names(ctx, lambda discovery: discovery.named(kind), incomplete)

    found.__annotations__ = {"ctx": typer.Context, "incomplete": str, "return": Answers}
    return found


def label_keys(ctx: typer.Context, incomplete: str) -> Answers:
    """Keys of labels that objects of the kind have; after a comma another one."""
    from muster.cli.completion.server import asking

    before, comma, last = incomplete.rpartition(",")
    kind = str(ctx.params.get("resource", "")).partition(",")[0] or "managedclusters"
    found: set[str] = set()
    with asking(*_where(ctx)) as server:
        if server is not None:
            for metadata in server.metadata(_path(ctx, server, server.kinds().named(kind))):
                found.update(metadata.get("labels", {}))
    return _beginning((f"{before}{comma}{key}" for key in found if key.startswith(last)), incomplete)


def field_selectors(incomplete: str) -> Answers:
    """Fields by which every kind can be selected."""
    return _beginning(("metadata.name=", "metadata.namespace="), incomplete)


def output_formats(incomplete: str) -> Answers:
    """How objects can be printed."""
    from muster.cli.inputs.options import Output

    return _beginning((each.value for each in Output), incomplete)


def environments(incomplete: str) -> Answers:
    """Environments of CEL."""
    from muster.cel import NAMES

    return _beginning(NAMES, incomplete)


def verbs(incomplete: str) -> Answers:
    """What one may be allowed to do."""
    known = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "impersonate", "bind")
    return _beginning(known, incomplete)


# ------------------------------------------------------------------------------------------------------------ asking


def _where(ctx: typer.Context) -> tuple[str | None, str | None]:
    return ctx.params.get("context"), ctx.params.get("kubeconfig")


def _kinds(ctx: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """Each kind once, with the group it is in; `.group` follows where two groups have the name."""
    from muster.cli.completion.server import asking

    served: dict[tuple[str, str], ServedResource] = {}
    with asking(*_where(ctx)) as server:
        if server is not None:
            for each in server.kinds().resources:
                if "list" in each.verbs:
                    served.setdefault((each.plural, each.group), each)
    names: dict[str, list[ServedResource]] = {}
    for each in served.values():
        names.setdefault(each.plural, []).append(each)
    found = {each[0].plural: each[0].group or "core" for each in names.values()}
    found |= {each.full_name: each.group for group in names.values() for each in group[1:]}
    return sorted(item for item in found.items() if item[0].startswith(incomplete))


def _names(ctx: typer.Context, choose: Callable[[Discovery], ServedResource], incomplete: str) -> list[str]:
    from muster.cli.completion.server import asking

    found: list[str] = []
    with asking(*_where(ctx)) as server:
        if server is not None:
            found += _collected(server, _path(ctx, server, choose(server.kinds())), incomplete)
    return found


def _path(ctx: typer.Context, server: Server, resource: ServedResource) -> str:
    if ctx.params.get("all_namespaces"):
        return resource.path()
    return resource.path(text_in(ctx.params, "namespace") or server.namespace)


def _collected(server: Server, path: str, incomplete: str) -> list[str]:
    return _beginning((_name(each) for each in server.metadata(path)), incomplete)


def _name(metadata: JsonObject) -> str:
    return str(metadata["name"])


def _beginning(words: Iterable[str], incomplete: str) -> list[str]:
    return sorted(word for word in words if word.startswith(incomplete))
