"""Clusters of a kubeconfig's contexts: each is looked at as the person who runs the command, as kubectl would."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec

from muster.client import Client, KubeconfigError, load_connection
from muster.client.kubeconfig import chosen_context, inlined
from muster.client.kubeconfig_files import read_kubeconfig
from muster.collecting.reading import ReadLimits, look_at
from muster.collecting.troubles import TroubleError
from muster.errors import InvalidObjectError
from muster.importing.found import BY_CONTEXT, BY_SECRET, Found, cluster_name, fitting_labels, gathered, judged
from muster.importing.rules import built_in
from muster.importing.sources import from_argocd, kubeconfig

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from muster.client import Connection
    from muster.client.kubeconfig_files import Kubeconfig
    from muster.importing.rules import Rules
    from muster.values.json import JsonObject

AT_ONCE: Final = 16


def wanted_contexts(file: str | None, names: Sequence[str], *, every: bool) -> list[str]:
    """The contexts that are meant: those named, all, or the current one. Raises KubeconfigError."""
    config, sources = read_kubeconfig(file)
    if config is None:
        raise KubeconfigError(f"no kubeconfig: none of {', '.join(map(str, sources))} exists. Name the file.")
    there = list(dict.fromkeys(each.name for each in config.contexts))
    if every:
        return there
    unknown = [name for name in names if name not in there]
    if unknown:
        raise KubeconfigError(f"the kubeconfig has no context {unknown[0]!r} (it has: {', '.join(there) or 'none'})")
    if names:
        return list(names)
    if not config.current_context:
        raise KubeconfigError("the kubeconfig has no current-context: choose with --context NAME or --all")
    return [config.current_context]


async def of_contexts(
    file: str | None,
    contexts: Iterable[str],
    names: Mapping[str, str],
    limits: ReadLimits,
    advance: Callable[[], None],
    *,
    with_credentials: bool,
) -> list[Found]:
    """Look at all of them, some at a time. What cannot be looked at has a fault."""
    config, _ = read_kubeconfig(file)
    assert config is not None  # noqa: S101 - the contexts were read from it
    gate, rules = asyncio.Semaphore(AT_ONCE), built_in()

    async def one(context: str) -> Found:
        async with gate:
            plain = Found(names.get(context) or cluster_name(context), f"context {context}", "kubeconfig")
            found = await _of_context(config, file, context, plain, limits, rules, with_credentials=with_credentials)
            advance()
            return found

    return list(await asyncio.gather(*(one(each) for each in contexts)))


async def _of_context(
    config: Kubeconfig,
    file: str | None,
    context: str,
    plain: Found,
    limits: ReadLimits,
    rules: Rules,
    *,
    with_credentials: bool,
) -> Found:
    try:
        _, _, cluster, user = chosen_context(config, context)
        connection = await load_connection(context, file)
        whole, who = inlined(cluster, user)
    except KubeconfigError as error:
        return replace(plain, fault=error.reason)
    found = replace(
        plain, url=connection.server, authority=whole.certificate_authority_data, access=f"{BY_CONTEXT}{context}"
    )
    if with_credentials:
        if who.exec is not None or who.auth_provider is not None:
            found = _noted(
                found, "a program makes its credentials: they are not stored; `muster sync` uses the context"
            )
        elif cluster.proxy_url:
            found = _noted(
                found, "it is reached through a proxy: the credentials are not stored; `muster sync` uses the context"
            )
        elif not connection.server.startswith("https://") or cluster.insecure_skip_tls_verify:
            found = _noted(found, "its certificate is not verified: the credentials are not stored")
        else:
            text = msgspec.json.encode(kubeconfig(plain.name, _plain(whole), _plain(who))).decode()
            found = replace(found, access=BY_SECRET, kubeconfig=text)
    return await looked_at(found, connection, limits, rules)


async def looked_at(found: Found, connection: Connection, limits: ReadLimits, rules: Rules) -> Found:
    """What a look at the cluster adds; a fault if there is no look to be had."""
    try:
        async with Client(connection) as client:
            seen = await look_at(client, limits)
    except (TroubleError, InvalidObjectError) as error:
        return replace(found, fault=str(error))
    known = judged(seen.facts, rules)
    labels, notes = fitting_labels({**known.labels, **found.labels})
    alive = ("True", "ManagedClusterAvailable", "Managed cluster is available")
    return replace(
        found,
        labels=labels,
        state=replace(known.state, available=alive),
        notes=(*found.notes, *gathered(seen.unread), *known.notes, *notes),
    )


async def of_argocd(
    secrets: Sequence[tuple[JsonObject, str]],
    limits: ReadLimits,
    advance: Callable[[], None],
    *,
    with_credentials: bool,
) -> list[Found]:
    """Clusters of cluster secrets, looked at with the credentials in them."""
    from muster.client.kubeconfig import static_connection
    from muster.client.kubeconfig_files import kubeconfig_in

    gate, rules = asyncio.Semaphore(AT_ONCE), built_in()

    async def one(secret: JsonObject, origin: str) -> Found:
        async with gate:
            cluster = from_argocd(secret, origin)
            found, config = cluster.found, cluster.config
            if config is not None and not found.fault:
                try:
                    text = msgspec.json.encode(config)
                    _, _, server, user = chosen_context(kubeconfig_in(text, origin), None)
                    connection = static_connection(server, user)
                except KubeconfigError as error:
                    found = replace(found, fault=error.reason)
                else:
                    found = replace(found, authority=server.certificate_authority_data)
                    if with_credentials:
                        found = replace(found, access=BY_SECRET, kubeconfig=text.decode())
                    found = await looked_at(found, connection, limits, rules)
            advance()
            return found

    return list(await asyncio.gather(*(one(*each) for each in secrets)))


def _noted(found: Found, note: str) -> Found:
    return replace(found, notes=(*found.notes, note))


def _plain(part: msgspec.Struct) -> JsonObject:
    found: JsonObject = msgspec.to_builtins(part)
    return found
