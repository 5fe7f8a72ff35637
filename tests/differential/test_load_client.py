"""The load client of the benchmarks goes on when its server is gone: it says what failed, and does not fall over."""

from __future__ import annotations

import json
import socket
import ssl
import subprocess
from pathlib import Path

import pytest

from muster.hub.auth.certificates import serving_certificate
from tests.differential.building import NoGoError, build

_SOURCE = Path(__file__).parents[2] / "benchmarks" / "peers" / "load"


def test_a_server_that_is_gone_is_an_error_and_not_the_end(tmp_path: Path) -> None:
    try:
        program = build(_SOURCE)
    except NoGoError as reason:
        pytest.skip(str(reason))
    tls = serving_certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certificate, tls.key)
    listener = socket.create_server(("127.0.0.1", 0))
    job = {
        "address": f"127.0.0.1:{listener.getsockname()[1]}",
        "authority": tls.authority.decode(),
        "token": "of nobody",
        "work": "create",
        "path": "/",
        "prefix": "a",
        "clients": 1,
        "count": 3,
        "bodies": ['{"metadata":{"name":"NAME"}}'],
    }
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(job).encode() + b"\n")
        process.stdin.flush()
        plain, _ = listener.accept()
        with context.wrap_socket(plain, server_side=True):
            assert process.stdout.readline() == b"ready\n"
            listener.close()  # whoever comes back is refused
        process.stdin.write(b"go\n")
        process.stdin.flush()
        outcome = json.loads(process.stdout.readline())
    assert outcome["answers"] == 0
    assert outcome["errors"] == 6  # each of three requests, and the connection in its place
