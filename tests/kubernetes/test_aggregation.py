"""The aggregation layer: an APIService of ours is asked through the API server, by a Service that names a host."""

from __future__ import annotations

import base64
import contextlib
import http.server
import json
import ssl
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.kubernetes.installing import called, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kubernetes.server import Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
GROUP = "echo.muster.invalid"


@contextlib.contextmanager
def echoing(server: Server) -> Iterator[int]:
    """Somebody who answers with the user that the API server introduces, and listens to nobody else."""

    class Echo(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"kind": "Echo", "user": self.headers.get("X-Remote-User"), "path": self.path}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: Any) -> None:
            """Nobody reads it."""

    pair = server.authority.server("echo", ("echo.default.svc",))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    context.load_verify_locations(server.proxy_authority)
    context.verify_mode = ssl.CERT_REQUIRED
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Echo) as listening:
        listening.socket = context.wrap_socket(listening.socket, server_side=True)
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        try:
            yield listening.server_address[1]
        finally:
            listening.shutdown()
            thread.join()


def test_an_api_service_is_reached_by_an_external_name(server: Server) -> None:
    with echoing(server) as port, called(server) as admin:
        ports = [{"port": 443}]
        service = {"spec": {"type": "ExternalName", "externalName": "localhost", "ports": ports}}
        admin.ok("POST", "/api/v1/namespaces/default/services", {"metadata": {"name": "echo"}} | service)
        bundle = base64.b64encode(server.authority.file.read_bytes()).decode()
        admin.ok(
            "POST",
            "/apis/apiregistration.k8s.io/v1/apiservices",
            {
                "metadata": {"name": f"v1.{GROUP}"},
                "spec": {
                    "group": GROUP,
                    "version": "v1",
                    "groupPriorityMinimum": 1000,
                    "versionPriority": 15,
                    "caBundle": bundle,
                    "service": {"namespace": "default", "name": "echo", "port": port},
                },
            },
        )
        path = f"/apis/{GROUP}/v1/anything"
        eventually(lambda: admin.send("GET", path).is_allowed, "the APIService answers")
        assert admin.ok("GET", path) == {"kind": "Echo", "user": "admin", "path": path}
        with called(server, "dev1") as dev:
            assert dev.send("GET", path).code == 403  # roles count before anybody is asked
