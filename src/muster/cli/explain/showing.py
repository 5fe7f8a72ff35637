"""What `muster explain` does once it is known what is asked: ask, and show what comes of it.

`command` takes what is asked from typer, `quick` from the plainest of command lines. Nothing is computed here.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

import msgspec

from muster.cli.inputs.askers import Asked, ask, warn
from muster.cli.inputs.documents import read_documents
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import Report, print_report
from muster.errors import ApiError, InvalidObjectError
from muster.library.overlays import in_namespace
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from muster.api.fleet_explanations import PlacementExplanationSpec
    from muster.cli.terminal.paint import Paint
    from muster.errors import MusterError

_NOT_FOUND: Final = 404
_KINDS: Final = {
    "managedclusters": "ManagedCluster",
    "managedclustersets": "ManagedClusterSet",
    "placements": "Placement",
}


def explain_placement(
    name: str = "",
    filename: str = "",
    cluster: str = "",
    namespace: str | None = None,
    fleet: list[str] | None = None,
    output: Report = Report.TEXT,
    context: str | None = None,
    kubeconfig: str | None = None,
) -> Exit:
    """The funnel, or the way of one cluster; NO where that is not selected."""
    from muster.cli.explain.text import cluster_lines, placement_lines

    unsaved = [each.object for each in read_documents([filename])] if filename else []

    async def question(asked: Asked) -> Json:
        from muster.client.explanations import Explainer

        explainer = Explainer(asked.asker, warn)
        spec = await _wanted(asked, unsaved, name, namespace, is_file=bool(filename))
        try:
            return await explainer.placement(msgspec.structs.replace(spec, cluster=cluster))
        except ApiError as error:
            raise await _not_there(asked, error, name, namespace) from None

    found = ask(question, fleet, context, kubeconfig, unsaved)
    _show(found, cluster_lines if cluster else placement_lines, output)
    return Exit.NO if cluster and not found.selected else Exit.OK


def explain_cluster(
    name: str,
    fleet: list[str] | None = None,
    output: Report = Report.TEXT,
    context: str | None = None,
    kubeconfig: str | None = None,
) -> Exit:
    """One cluster in all sets and placements."""
    from muster.cli.explain.text import outlook_lines

    async def question(asked: Asked) -> Json:
        from muster.client.explanations import Explainer

        try:
            found = await Explainer(asked.asker, warn).cluster(name)
        except ApiError as error:
            raise await _not_there(asked, error, name) from None
        # Sets that stand for everything there is are not the user's.
        return msgspec.structs.replace(found, sets=()) if asked.is_bare else found

    _show(ask(question, fleet, context, kubeconfig), outlook_lines, output)
    return Exit.OK


def explain_set(
    name: str,
    fleet: list[str] | None = None,
    output: Report = Report.TEXT,
    context: str | None = None,
    kubeconfig: str | None = None,
) -> Exit:
    """One set: who is in it, and why the others are not."""
    from muster.cli.explain.text import set_lines

    async def question(asked: Asked) -> Json:
        from muster.client.explanations import Explainer

        try:
            return await Explainer(asked.asker, warn).cluster_set(name)
        except ApiError as error:
            raise await _not_there(asked, error, name) from None

    _show(ask(question, fleet, context, kubeconfig), set_lines, output)
    return Exit.OK


def _show(found: Json, lines: Callable[[Json, Paint], Iterator[str]], output: Report) -> None:
    from muster.cli.explain.text import document
    from muster.cli.terminal.paint import paint_for

    if output is Report.TEXT:
        sys.stdout.writelines(f"{line}\n" for line in lines(found, paint_for()))
    else:
        print_report(document(found), output)


async def _wanted(
    asked: Asked, unsaved: Sequence[JsonObject], name: str, namespace: str | None, *, is_file: bool
) -> PlacementExplanationSpec:
    """Which placement: the one in the file, or the stored one of that name."""
    from muster.api.fleet_explanations import PlacementExplanationSpec

    given = [in_namespace(each, asked.namespace) for each in unsaved if each["kind"] == "Placement"]
    if not name and len(given) == 1:
        return PlacementExplanationSpec(placement=_bare(given[0]))
    if not name:
        raise InvalidObjectError("", "say which placement: by name, or with -f FILE that has one Placement in it")
    if given:
        places = [(each["metadata"]["namespace"], each["metadata"].get("name", "")) for each in given]
        place = _place(places, name, namespace, asked.namespace)
        wanted = next(each for each, found in zip(given, places, strict=True) if found == (place, name))
        return PlacementExplanationSpec(placement=_bare(wanted))
    if is_file or namespace:
        return PlacementExplanationSpec(namespace or asked.namespace, name)
    return PlacementExplanationSpec(await _namespace_of(asked, name), name)


def _bare(placement: JsonObject) -> JsonObject:
    """As much of a placement as a question takes."""
    return {"metadata": placement["metadata"], "spec": placement.get("spec", {})}


async def _namespace_of(asked: Asked, name: str) -> str:
    """The usual namespace, if the placement is in there; else the only one that it is in."""
    if asked.client is not None:
        from muster.questions.asked import served

        try:
            await asked.client.request("GET", served("placements").object_path(asked.namespace, name))
        except ApiError as error:
            if error.code != _NOT_FOUND:
                return asked.namespace  # to be said by whoever answers the question
        else:
            return asked.namespace
    return _place(await asked.names("placements"), name, None, asked.namespace)


def _place(known: Sequence[tuple[str, str]], name: str, namespace: str | None, default: str) -> str:
    """Where the placement of that name is: in the namespace that was asked for, else the usual one, else the only one
    there is. Raises InvalidObjectError."""
    found = {place for place, each in known if each == name}
    for wanted in (namespace,) if namespace else (default, ""):
        if wanted in found:
            return wanted
    if len(found) == 1 and not namespace:
        return found.pop()
    where = f" in namespace {namespace or default}" if namespace or default else ""
    if found:
        hint = f"; it is in {', '.join(sorted(found))}: name one with -n"
    else:
        hint = _meant(name, [each for _, each in known])
    raise InvalidObjectError("", f"there is no Placement {name!r}{where}{hint}")


async def _not_there(asked: Asked, error: ApiError, name: str, namespace: str | None = None) -> MusterError:
    """What to say of a name that is not there: which was meant."""
    if error.code != _NOT_FOUND or error.kind not in _KINDS:
        return error
    known = await asked.names(error.kind)
    if error.kind == "placements":
        try:
            _place(known, name, namespace, asked.namespace)
        except InvalidObjectError as better:
            return better
        return error
    return InvalidObjectError(
        "", f"there is no {_KINDS[error.kind]} {error.name!r}{_meant(error.name, [each for _, each in known])}"
    )


def _meant(name: str, known: Sequence[str]) -> str:
    from muster.values.nearest import nearest

    close = nearest(name, known)
    return f": did you mean {' or '.join(close)}?" if close else ""
