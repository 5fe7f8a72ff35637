"""`muster hub token` and `muster hub certificate`: credentials for the users of a hub, made beside its database.

They work whether the hub runs or not, and say which one they mean unless it was named. A token is printed once and
kept only as a digest.
"""

from __future__ import annotations

import re
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.hub.directory import Data, chosen_aloud
from muster.cli.inputs.options import Report, ReportFormat
from muster.cli.terminal.commands import App
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.hub.auth.token_file import Token

tokens = App(help="Create, list and revoke the tokens of users.")
certificates = App(help="Create client certificates for users.")

_DURATION = re.compile(r"(\d+)(s|m|h|d)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_CERTIFICATE_DAYS = "30d"

User = Annotated[str, typer.Option("--user", metavar="NAME", help="Name of the user.")]
Groups = Annotated[
    list[str] | None, typer.Option("--group", metavar="GROUP", help="Group of the user; may be repeated.")
]
KubeconfigFile = Annotated[
    Path | None, typer.Option("--kubeconfig", help="Write a kubeconfig for the user to this file.", show_default=False)
]
Server = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", help="Address of the hub in that kubeconfig.", show_default=False),
]


@tokens.callback()
def _tokens() -> None:
    """Create, list and revoke the tokens of users."""


@certificates.callback()
def _certificates() -> None:
    """Create client certificates for users."""


@tokens.command()
def create(
    user: User,
    group: Groups = None,
    expires: Annotated[
        str, typer.Option("--expires", metavar="TIME", help="Lifetime: 30m, 24h, 90d; never if left out.")
    ] = "",
    kubeconfig: KubeconfigFile = None,
    server: Server = None,
    data: Data = None,
) -> None:
    """Print a new token for a user. It cannot be shown again.

    Examples:
      muster hub token create --user dana --group developers --expires 90d
      muster hub token create --user robot --kubeconfig robot.kubeconfig
    """
    from muster.hub.access import TOKENS
    from muster.hub.auth.kubeconfigs import token_credentials
    from muster.hub.auth.token_file import TokenFile

    directory = chosen_aloud(data)
    hub = _hub_kubeconfig(directory) if kubeconfig is not None else b""
    token, known = TokenFile(directory / TOKENS).create(
        user, tuple(group or ()), _lifetime(expires) if expires else None
    )
    if kubeconfig is not None:
        _write(kubeconfig, hub, user, token_credentials(token), server)
    else:
        sys.stdout.write(f"{token}\n")
    ends = f", until {_time(known.expires)}" if known.expires is not None else ""
    sys.stderr.write(f"token {known.id} of {user}{ends}\n")


@tokens.command("list")
def list_tokens(output: ReportFormat = Report.TEXT, data: Data = None) -> None:
    """List the tokens: whose they are and until when, never the tokens themselves.

    Examples:
      muster hub token list
      muster hub token list -o json
    """
    from muster.hub.access import TOKENS
    from muster.hub.auth.token_file import TokenFile

    known = TokenFile(chosen_aloud(data) / TOKENS).tokens()
    if output is not Report.TEXT:
        print_report([_shown(token) for token in known], output)
        return
    now = datetime.now(UTC)
    rows = [("ID", "USER", "GROUPS", "CREATED", "EXPIRES")]
    for token in known:
        ends = "never" if token.expires is None else _time(token.expires)
        state = " (expired)" if token.is_expired(now) else ""
        rows.append((token.id, token.user, ",".join(token.groups) or "-", _time(token.created), ends + state))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        sys.stdout.write("   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n")


@tokens.command()
def revoke(
    ids: Annotated[list[str], typer.Argument(metavar="ID", help="Ids, as `list` shows them.")],
    data: Data = None,
) -> None:
    """Make tokens useless, at once.

    Examples:
      muster hub token list -o json | muster jq -r '.[] | select(.user == "dana").id' | xargs muster hub token revoke
    """
    from muster.hub.access import TOKENS
    from muster.hub.auth.token_file import TokenFile

    file = TokenFile(chosen_aloud(data) / TOKENS)
    unknown = 0
    for each in ids:
        token = file.revoke(each)
        if token is None:
            unknown += 1
            sys.stderr.write(f"muster: there is no token {each}\n")
        else:
            sys.stdout.write(f"revoked token {token.id} of {token.user}\n")
    if unknown:
        raise typer.Exit(int(Exit.NO))


@certificates.command("create")
def create_certificate(
    user: User,
    kubeconfig: Annotated[Path, typer.Option("--kubeconfig", help="Write a kubeconfig for the user to this file.")],
    group: Groups = None,
    expires: Annotated[str, typer.Option("--expires", metavar="TIME", help="Lifetime: 24h, 90d.")] = _CERTIFICATE_DAYS,
    server: Server = None,
    data: Data = None,
) -> None:
    """Make a client certificate for a user. It cannot be revoked: keep its life short.

    Examples:
      muster hub certificate create --user dana --kubeconfig dana.kubeconfig
      muster hub certificate create --user ci --group deployers --expires 24h --kubeconfig ci.kubeconfig
    """
    from muster.hub.auth.certificates import client_certificate
    from muster.hub.auth.kubeconfigs import certificate_credentials

    directory = chosen_aloud(data)
    hub = _hub_kubeconfig(directory)
    made = client_certificate(directory, user, tuple(group or ()), _lifetime(expires))
    _write(kubeconfig, hub, user, certificate_credentials(made), server)
    sys.stderr.write(f"certificate of {user}, until {_time(made.expires)}\n")


def _hub_kubeconfig(directory: Path) -> bytes:
    from muster.hub.directory import KUBECONFIG

    path = directory / KUBECONFIG
    try:
        return path.read_bytes()
    except OSError as error:
        raise InvalidObjectError(
            "--kubeconfig", f"{path}: {error.strerror}; start the hub once to have it made"
        ) from None


def _write(path: Path, hub: bytes, user: str, credentials: Mapping[str, str], server: str | None) -> None:
    from muster.hub.auth.files import write_private
    from muster.hub.auth.kubeconfigs import user_kubeconfig

    try:
        write_private(path, user_kubeconfig(hub, user, credentials, server))
    except OSError as error:
        raise InvalidObjectError("--kubeconfig", f"{path}: cannot be written: {error.strerror}") from None
    sys.stdout.write(f"export KUBECONFIG={path.resolve()}\n")


def _lifetime(text: str) -> timedelta:
    found = _DURATION.fullmatch(text)
    if found is None or len(found[1]) > 6:
        raise InvalidObjectError("--expires", f"{text!r} is not a duration such as 30m, 24h or 90d")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _shown(token: Token) -> dict[str, object]:
    return {
        "id": token.id,
        "user": token.user,
        "uid": token.uid,
        "groups": list(token.groups),
        "created": _time(token.created),
        "expires": None if token.expires is None else _time(token.expires),
    }


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
