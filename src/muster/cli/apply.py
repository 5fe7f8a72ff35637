"""`muster apply`: server-side apply of files, many objects at a time, in an order in which they can exist."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.inputs.documents import Document, read_objects
from muster.cli.inputs.fields import text_in
from muster.cli.inputs.options import Context, Files, Kubeconfig, Namespace, with_client
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.progress import Progress
from muster.errors import ApiError, InvalidObjectError, MusterError
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.client import Client, Discovery, Reply, ServedResource

MANAGER = "muster"
_AT_ONCE = 32
_BATCH = 2000
_CONFLICT = 409
# What other objects live in or refer to goes first; everything else has the same rank.
FIRST = {"Namespace": 0, "CustomResourceDefinition": 0, "ManagedClusterSet": 1, "ManagedCluster": 2}
LAST = 3


def command(
    filename: Files = None,
    namespace: Namespace = None,
    force_conflicts: Annotated[
        bool, typer.Option("--force-conflicts", help="Take over fields that another manager owns.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Let the server check everything and change nothing.")
    ] = False,
    field_manager: Annotated[
        str, typer.Option("--field-manager", metavar="NAME", help="Name under which fields are owned.")
    ] = MANAGER,
    with_status: Annotated[
        bool, typer.Option("--with-status", help="Also write the status that the files carry (needs that permission).")
    ] = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="First show what changes in the decisions of placements, and ask.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --plan: show it, and do not ask.")] = False,
    plan_token: Annotated[
        str,
        typer.Option(
            "--plan-token",
            metavar="TOKEN",
            help="Plan again, and write only if it is still the plan with this token; `muster plan` prints it.",
            show_default=False,
        ),
    ] = "",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print only what went wrong.")] = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Create or change objects from files.

    Every object is tried; those that are refused are listed at the end, and the exit code says that there were some.
    With --plan-token nothing is written if the plan is another by now; what is changed after that look is not seen.

    Examples:
      muster apply -f examples/01-cel-selection/placements.yaml --dry-run
      muster apply -f examples/06-first-look/checkout.yaml --force-conflicts --plan --yes
      cat fleet/00-namespaces.json | muster apply -f - --quiet
    """
    if not filename:
        raise InvalidObjectError("", "nothing to apply: name files, directories or - with -f")
    read = read_objects(filename)
    documents = chain([next(read)], read)  # what has nothing in it is refused before anybody is asked
    if plan or plan_token:
        known = list(documents)
        how = How(field_manager, force_conflicts, with_status)
        agreed = Agreement(show=plan, token=plan_token, yes=yes or dry_run or not plan)
        if not _is_wanted(known, how, namespace, context, kubeconfig, agreed):
            sys.stderr.write("nothing was applied\n")
            raise typer.Exit(int(Exit.NO))
        documents = chain(known)

    async def work(client: Client) -> int:
        run = _Run(
            client, await client.discover(), namespace, field_manager, force_conflicts, dry_run, with_status, quiet
        )
        return await run.apply_all(documents)

    failed = with_client(work, context, kubeconfig)
    if failed:
        raise typer.Exit(failed)


@dataclass(frozen=True, slots=True)
class How:
    """How objects are applied; a plan must know it too. Deleting is only planned for, `muster delete` does it."""

    manager: str
    force: bool = False
    with_status: bool = False
    delete: bool = False


@dataclass(frozen=True, slots=True)
class Agreement:
    """What must be before anything is written: the plan is shown, it is that of a token, somebody says yes."""

    show: bool = False
    token: str = ""
    yes: bool = False


def _is_wanted(
    documents: list[Document],
    how: How,
    namespace: str | None,
    context: str | None,
    kubeconfig: str | None,
    agreed: Agreement,
) -> bool:
    """Plan, insist on the token, show the plan, and ask."""
    from muster.cli.plan.asking import asked as planned
    from muster.cli.plan.output import print_plan
    from muster.cli.terminal.consent import asked, require_terminal

    if not agreed.yes:
        require_terminal("apply --plan")
    status = planned(documents, how, None, namespace, context, kubeconfig, token=agreed.token)
    if agreed.show:
        print_plan(status)
        sys.stdout.flush()  # what is refused is told on another stream
    if status.changed:
        sys.stderr.write("muster: the plan is another one than that of --plan-token:\n")
        sys.stderr.writelines(f"  {text}\n" for text in status.changed)
        sys.stderr.write("look at `muster plan` again, and use its token\n")
        return False
    return agreed.yes or asked(f"Apply {len(documents)} objects?")


class _Run:
    """One call of `muster apply`."""

    def __init__(
        self,
        client: Client,
        discovery: Discovery,
        namespace: str | None,
        manager: str,
        force: bool,
        dry_run: bool,
        with_status: bool,
        quiet: bool,
    ) -> None:
        self._client = client
        self._discovery = discovery
        self._namespace = namespace
        self._manager = manager
        self._force = force
        self._dry_run = dry_run
        self._with_status = with_status
        self._quiet = quiet
        self._failures: list[tuple[str, MusterError]] = []
        self._progress = Progress("applied")

    async def apply_all(self, documents: Iterator[Document]) -> int:
        with self._progress:
            batch: list[Document] = []
            for document in documents:
                batch.append(document)
                if len(batch) == _BATCH:
                    await self._apply_batch(batch)
                    batch = []
            await self._apply_batch(batch)
        for origin, error in self._failures[:50]:
            sys.stderr.write(f"muster: {origin}: {error}{_advice(error)}\n")
        if len(self._failures) > 50:
            sys.stderr.write(f"muster: … and {len(self._failures) - 50} more were refused\n")
        return _worst(self._failures)

    async def _apply_batch(self, batch: list[Document]) -> None:
        for rank in range(LAST + 1):
            ranked = [d for d in batch if FIRST.get(d.object["kind"], LAST) == rank]
            gate = asyncio.Semaphore(_AT_ONCE)
            await asyncio.gather(*(self._apply_one(document, gate) for document in ranked))
            if any(document.object["kind"] == "CustomResourceDefinition" for document in ranked):
                self._discovery = await self._client.discover()  # what they define may come next

    async def _apply_one(self, document: Document, gate: asyncio.Semaphore) -> None:
        obj = document.object
        async with gate:
            try:
                resource = self._discovery.of_kind(obj["apiVersion"], obj["kind"])
                where = self._place(obj) if resource.namespaced else ""
                reply = await self._send(resource, obj, where, "")
                if self._with_status and "status" in obj:
                    await self._send(resource, obj, where, "status")
            except (ApiError, InvalidObjectError) as error:
                self._failures.append((document.origin, error))
                return
        for warning in reply.warnings:
            sys.stderr.write(f"Warning: {warning}\n")
        if not self._quiet:
            deed = "created" if reply.code == 201 else "applied"
            suffix = " (dry run)" if self._dry_run else ""
            self._progress.say(f"{resource.full_name}/{obj['metadata']['name']} {deed}{suffix}")
        self._progress.advance()

    def _place(self, obj: JsonMapping) -> str:
        """The namespace an object goes to."""
        named = text_in(obj["metadata"], "namespace")
        if self._namespace and named and named != self._namespace:
            raise InvalidObjectError(
                "metadata.namespace", f"the object is in {named!r}, but -n says {self._namespace!r}"
            )
        return named or self._namespace or self._client.connection.namespace

    async def _send(self, resource: ServedResource, obj: JsonMapping, namespace: str, subresource: str) -> Reply:
        return await self._client.apply(
            resource,
            obj,
            namespace,
            subresource=subresource,
            manager=self._manager,
            force=self._force,
            dry_run=self._dry_run,
        )


def _advice(error: MusterError) -> str:
    conflict = isinstance(error, ApiError) and error.code == _CONFLICT
    return "; --force-conflicts takes such fields over" if conflict else ""


def _worst(failures: list[tuple[str, MusterError]]) -> int:
    if not failures:
        return int(Exit.OK)
    from muster.cli.terminal.exits import exit_code

    return max(int(exit_code(error)) for _, error in failures)
