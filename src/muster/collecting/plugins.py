"""Programs that make credentials for clusters of ClusterProfiles: only those that the operator's file names.

The file has the form of SIG-Multicluster's `--clusterprofile-provider-file`. A program is started by its path and its
arguments, never through a shell; what a profile adds to them counts only where the file says so. It gets the address of
the cluster by KUBERNETES_EXEC_INFO, answers within a time and within bytes, and is killed otherwise.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.parts import Node, Part
from muster.api.reading import Reader
from muster.client.credentials import Credentials
from muster.collecting.troubles import Trouble, TroubleError
from muster.errors import InvalidObjectError
from muster.values.faults import Fault
from muster.values.json import JsonObject
from muster.values.times import parse_time
from muster.values.yaml_reading import YamlError, YamlLimits, read_yaml

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.collecting.profiles import Provider

_SECONDS: Final = 30.0
_MOST_BYTES: Final = 256 * 1024
_VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
_MOST_EXTRA: Final = 50
APPEND: Final = "Append"
APPEND_IF_NEW: Final = "AppendIfNotExists"
REPLACE: Final = "Replace"


class EnvVar(Part, frozen=True):
    name: str = ""
    value: str = ""


class ExecConfig(Node, frozen=True):
    api_version: str = _VERSIONS[0]
    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[EnvVar, ...] = ()
    provide_cluster_info: bool = False


class Plugin(Node, frozen=True):
    """One program that may be started."""

    name: str = ""
    exec_config: ExecConfig = ExecConfig()
    cli_args_policy: str = msgspec.field(default="", name="profileSourcedCLIArgsPolicy")
    env_policy: str = msgspec.field(default="", name="profileSourcedEnvVarsPolicy")


class _File(Node, frozen=True):
    providers: tuple[Plugin, ...] = ()


class _Status(Part, frozen=True):
    token: str = ""
    expiration_timestamp: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""


class _ExecCredential(Node, frozen=True):
    status: _Status = _Status()


_FILES: Final = Reader(_File)
_CREDENTIALS: Final = Reader(_ExecCredential)
Plugins = dict[str, Plugin]


def read_plugins(file: Path) -> Plugins:
    """The programs that a file allows, by the provider's name. Raises InvalidObjectError."""
    try:
        document = read_yaml(file.read_bytes(), YamlLimits())
    except (OSError, YamlError) as error:
        raise InvalidObjectError(str(file), str(error)) from error
    found = _FILES.fitted(None if document is None else document.value)
    if isinstance(found, Fault) or found.faults:
        fault = found if isinstance(found, Fault) else found.faults[0]
        raise InvalidObjectError(str(file), f"no file of providers: {fault}")
    for each in found.obj.providers:
        config = each.exec_config
        if not each.name or not Path(config.command).is_absolute():
            raise InvalidObjectError(str(file), f"provider {each.name!r}: its command must be an absolute path")
        if config.api_version not in _VERSIONS:
            raise InvalidObjectError(str(file), f"provider {each.name!r}: apiVersion must be {' or '.join(_VERSIONS)}")
    return {each.name: each for each in found.obj.providers}


async def credentials_from(plugin: Plugin, provider: Provider) -> Credentials:
    """Start the program and read what it says. Raises TroubleError, which never repeats what it has written."""
    config = plugin.exec_config
    answer = await _output(config.command, _arguments(plugin, provider), _environment(plugin, provider))
    found = _CREDENTIALS.read(answer)
    if isinstance(found, Fault):
        raise _refused(config.command, "answers with no ExecCredential")
    status = found.obj.status
    until = None
    if status.expiration_timestamp:
        moment = parse_time(status.expiration_timestamp)
        if isinstance(moment, Fault):
            raise _refused(config.command, "answers with a wrong expirationTimestamp")
        until = moment
    pair = None
    if status.client_certificate_data and status.client_key_data:
        pair = (status.client_certificate_data.encode(), status.client_key_data.encode())
    if not status.token and pair is None:
        raise _refused(config.command, "answers without a token or a certificate")
    if not status.token.isprintable():
        raise _refused(config.command, "answers with a token that no header can carry")
    return Credentials({"Authorization": f"Bearer {status.token}"} if status.token else {}, until, pair)


def _arguments(plugin: Plugin, provider: Provider) -> list[str]:
    own = list(plugin.exec_config.args)
    return own + list(provider.more_args[:_MOST_EXTRA]) if plugin.cli_args_policy == APPEND else own


def _environment(plugin: Plugin, provider: Provider) -> dict[str, str]:
    config = plugin.exec_config
    found = {**os.environ, **{each.name: each.value for each in config.env}}
    own = {each.name for each in config.env}
    if plugin.env_policy in (APPEND_IF_NEW, REPLACE):
        # "If not exists" is about everything that the program would see anyway: nobody moves its PATH by a profile.
        kept = set() if plugin.env_policy == REPLACE else {*own, *os.environ}
        more = list(provider.more_env.items())[:_MOST_EXTRA]
        found |= {name: value for name, value in more if _is_variable(name, value) and name not in kept}
    spec: JsonObject = {"interactive": False}
    if config.provide_cluster_info:
        spec["cluster"] = _cluster_info(provider)
    info = {"apiVersion": config.api_version, "kind": "ExecCredential", "spec": spec}
    return {**found, "KUBERNETES_EXEC_INFO": msgspec.json.encode(info).decode()}


def _is_variable(name: str, value: str) -> bool:
    return bool(name) and "=" not in name and "\0" not in name + value


def _cluster_info(provider: Provider) -> Mapping[str, object]:
    found: JsonObject = {"server": provider.cluster.server}
    if provider.cluster.certificate_authority_data:
        found["certificate-authority-data"] = provider.cluster.certificate_authority_data
    if provider.config is not None:
        found["config"] = provider.config
    return found


async def _output(command: str, arguments: list[str], environment: dict[str, str]) -> bytes:
    try:
        process = await asyncio.create_subprocess_exec(
            command,
            *arguments,
            env=environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        raise _refused(command, f"cannot be started: {why}") from error
    assert process.stdout is not None  # noqa: S101 - it was asked for
    try:
        async with asyncio.timeout(_SECONDS):
            answer = b""
            while part := await process.stdout.read(_MOST_BYTES + 1 - len(answer)):
                answer += part
                if len(answer) > _MOST_BYTES:
                    raise _refused(command, f"answers with more than {_MOST_BYTES} bytes")
            code = await process.wait()
    except TimeoutError:
        raise _refused(command, f"does not answer within {_SECONDS:g} s") from None
    finally:
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, 9)
            await process.wait()
    if code:
        raise _refused(command, f"failed with code {code}")
    return answer


def _refused(command: str, why: str) -> TroubleError:
    return TroubleError(Trouble.NO_ACCESS, f"the credential plugin {command} {why}")
