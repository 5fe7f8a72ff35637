"""What is forwarded, as whom, and what comes back: no more than the pages need, and never a credential."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import aiohttp
import pytest
from aiohttp import web

from muster.console.forwarded import forwarded
from tests.console.stage import CLUSTERS, QUESTION, TOKEN, ApiServer, Browser, api_server, console, run

if TYPE_CHECKING:
    from muster.console.sessions import Session

OCM = "/apis/cluster.open-cluster-management.io"
FORWARDED = [
    ("GET", CLUSTERS),
    ("GET", f"{CLUSTERS}/a"),
    ("PATCH", f"{CLUSTERS}/a"),
    ("GET", f"{OCM}/v1beta1/placements"),
    ("POST", f"{OCM}/v1beta1/namespaces/apps/placements"),
    ("PUT", f"{OCM}/v1beta1/namespaces/apps/placements/checkout"),
    ("GET", "/apis/placement.muster.dev/v1alpha1/namespaces/apps/placementhistories/checkout"),
    ("POST", QUESTION),
    ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews"),
    ("GET", "/version"),
    ("GET", "/api/v1/namespaces"),
]
REFUSED = [
    ("GET", "/api/v1/secrets"),
    ("GET", "/api/v1/namespaces/apps/secrets/token"),
    ("GET", "/api/v1/configmaps"),
    ("GET", "/api/v1/namespaces/apps/pods/x/exec"),
    ("POST", "/api/v1/namespaces/apps/serviceaccounts/x/token"),
    ("POST", "/apis/authentication.k8s.io/v1/tokenreviews"),
    ("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles"),
    ("DELETE", f"{OCM}/v1beta1/namespaces/apps/placements/checkout"),
    ("DELETE", CLUSTERS),
    ("PUT", f"{CLUSTERS}/a/status"),
    ("GET", f"{CLUSTERS}/a/proxy/x"),
    ("POST", f"{OCM}/v1beta1/namespaces/apps/placementdecisions"),
    ("GET", QUESTION),
    ("POST", f"{QUESTION}/x"),
    ("POST", "/apis/fleet.muster.dev/v1alpha1/namespaces/apps/fleetevaluations"),
    ("DELETE", "/version"),
    ("GET", "/metrics"),
    ("GET", "/openapi/v3"),
    ("GET", "/api/v1/namespaces/../secrets"),
    ("GET", "/api/v1/namespaces/x%2f..%2f..%2fsecrets"),
    ("GET", f"{OCM}/v1/../../../api/v1/secrets"),
    ("GET", f"{OCM}/v1/%2e%2e/managedclusters"),
    ("GET", "/apis/cluster.open-cluster-management.io//v1/managedclusters"),
    ("GET", f"{CLUSTERS}/a\\b"),
    ("GET", "//evil.example/api/v1/namespaces"),
]


@pytest.mark.parametrize(("method", "path"), FORWARDED)
def test_what_pages_need_is_forwarded(method: str, path: str) -> None:
    assert forwarded(method, path) is not None


@pytest.mark.parametrize(("method", "path"), REFUSED)
def test_nothing_else_reaches_the_server(method: str, path: str) -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        status, _, text = await browser.send(method, path)
        # What is no API path is a page: it has nothing of the server's.
        assert status in (404, 405) or (status == 200 and "<m-shell>" in text)
        assert [
            each.raw_path for each in server.requests if "fleet" in each.raw_path or "secret" in each.raw_path
        ] == []
        assert server.requests == []

    run(story)


def test_the_server_hears_the_users_credentials_and_nothing_of_the_browser() -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        sneaked = {
            "Authorization": "Bearer other",
            "Impersonate-User": "admin",
            "X-Forwarded-For": "x",
            "X-Remote-User": "admin",
        }
        status, headers, text = await browser.send(
            "GET", f"{CLUSTERS}?limit=1&labelSelector=a%3Db", headers={**sneaked}
        )
        sent = server.requests[0]
        assert (status, sent.headers["Authorization"]) == (200, f"Bearer {TOKEN}")
        assert sent.raw_path == f"{CLUSTERS}?limit=1&labelSelector=a%3Db"
        told = {name.lower() for name in sent.headers}
        assert (
            told & {"cookie", "x-muster-session", "impersonate-user", "x-remote-user", "origin", "x-forwarded-for"}
            == set()
        )
        assert "Set-Cookie" not in headers
        assert "Audit-Id" not in headers
        assert TOKEN not in f"{headers} {text}"

    run(story)


def test_no_answer_has_the_credentials() -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        paths = [path for _, path in FORWARDED] + [
            "/",
            "/session",
            "/static/main.js",
            "/healthz",
            "/api/v1/secrets",
            "/nowhere",
        ]
        for path in paths:
            for method in ("GET", "POST"):
                status, headers, text = await browser.send(method, path)
                assert TOKEN not in f"{status} {dict(headers)} {text}"

    run(story)


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(code: int) -> None:
    async def told() -> None:
        async with api_server() as server, api_server() as elsewhere, console(server) as browser:
            await browser.enter()

            async def away(_: web.Request) -> web.StreamResponse:
                return web.Response(status=code, headers={"Location": f"{elsewhere.url}{CLUSTERS}"})

            server.answer = away
            status, headers, text = await browser.send("GET", CLUSTERS)
            assert (status, "Location" in headers, elsewhere.url in text) == (502, False, False)
            assert elsewhere.requests == []

    asyncio.run(told())


def test_a_watch_is_handed_on_event_by_event_and_ends_with_the_browser() -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        left = asyncio.Event()
        go_on = asyncio.Event()

        async def watch(request: web.Request) -> web.StreamResponse:
            answer = web.StreamResponse()
            await answer.prepare(request)
            await answer.write(b'{"type":"ADDED"}\n')
            await go_on.wait()
            try:
                while True:
                    await answer.write(b'{"type":"MODIFIED"}\n')
                    await asyncio.sleep(0.01)
            except ConnectionError:
                left.set()
            return answer

        server.answer = watch
        async with browser.stream(f"{CLUSTERS}?watch=true") as answer:
            assert await answer.content.readline() == b'{"type":"ADDED"}\n'
            go_on.set()
            assert await answer.content.readline() == b'{"type":"MODIFIED"}\n'
            answer.close()
        await asyncio.wait_for(left.wait(), 10)
        assert server.requests[0].headers["Accept-Encoding"] == "identity"

    run(story)


def test_half_an_answer_does_not_look_like_a_whole_one() -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        async def broken(request: web.Request) -> web.StreamResponse:
            answer = web.StreamResponse(headers={"Content-Type": "application/json"})
            await answer.prepare(request)
            await answer.write(b'{"items":[')
            assert request.transport is not None
            request.transport.close()
            return answer

        server.answer = broken
        with pytest.raises(aiohttp.ClientError):
            await browser.send("GET", CLUSTERS)

    run(story)


def test_a_server_that_is_away_is_told_as_such() -> None:
    async def told() -> None:
        async with api_server() as server:
            url = server.url
        gone = ApiServer(url=url)
        async with console(gone) as browser:
            await browser.enter()
            status, _, text = await browser.send("GET", CLUSTERS)
            assert (status, "Unreachable" in text, TOKEN in text) == (502, True, False)

    asyncio.run(told())


def test_questions_go_to_an_answerer_first_where_there_is_one() -> None:
    class Local:
        async def answer(self, plural: str, body: bytes, session: Session) -> web.Response | None:
            assert session.bearer == ""
            return web.json_response({"status": body.decode()}) if plural == "fleetevaluations" else None

    async def told() -> None:
        async with api_server() as server, console(server, answerer=Local()) as browser:
            await browser.enter()
            _, _, text = await browser.send("POST", QUESTION, json={"a": 1})
            assert (text, server.requests) == ('{"status": "{\\"a\\": 1}"}', [])
            assert await browser.code("POST", "/apis/fleet.muster.dev/v1alpha1/fleetfacets") == 200
            assert len(server.requests) == 1

    asyncio.run(told())


def test_yaml_is_read_here_within_limits_and_says_where_it_is_wrong() -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        async def converted(text: str) -> str:
            headers: dict[str, str | None] = {"Content-Type": "application/yaml"}
            return (await browser.send("POST", "/yaml", headers=headers, data=text.encode()))[2]

        assert await converted("a: 1\n---\nb: [x]\n") == '{"objects":[{"a":1},{"b":["x"]}]}'
        assert '"line":2' in await converted("a: 1\n b: 2\n")
        bomb = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
            f"{chr(98 + at)}: &{chr(98 + at)} [{','.join([f'*{chr(97 + at)}'] * 9)}]\n" for at in range(9)
        )
        assert '"problem":' in await converted(bomb)
        _, _, text = await browser.send("POST", "/yaml", json={"b": [1]})
        assert text == "b:\n- 1\n"

    run(story)
