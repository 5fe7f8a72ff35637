"""The installed form: each user logs in with a token of his own, and is himself to the server."""

from __future__ import annotations

from aiohttp import web

from muster.console.server import ConsoleSettings
from tests.console.stage import CLUSTERS, PUBLIC, ApiServer, Browser, run

SETTINGS = ConsoleSettings(public=PUBLIC)


async def knows_dora(request: web.Request) -> web.StreamResponse:
    if request.headers.get("Authorization") != "Bearer doras-token":
        return web.json_response({"kind": "Status", "reason": "Unauthorized"}, status=401)
    return web.json_response({"items": []})


def test_a_user_logs_in_with_his_token_and_is_himself() -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        server.answer = knows_dora
        assert await browser.code("GET", CLUSTERS) == 401
        assert await browser.enter(token="doras-token") == 200
        assert await browser.code("GET", CLUSTERS) == 200
        assert [each.headers["Authorization"] for each in server.requests] == ["Bearer doras-token"] * 2
        assert "doras-token" not in browser.cookie

    run(story, SETTINGS)


def test_a_token_that_the_server_does_not_know_begins_nothing() -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        server.answer = knows_dora
        for token in ("wrong", "", " ", "two\nlines", "ä"):
            assert await browser.enter(token=token) == 401
        assert await browser.code("GET", CLUSTERS) == 401

    run(story, SETTINGS)


def test_a_link_is_no_way_in() -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        assert "#" not in browser.ready.link
        assert await browser.enter(link="anything") == 401

    run(story, SETTINGS)


def test_the_cookie_is_for_this_host_over_tls_only() -> None:
    async def story(server: ApiServer, browser: Browser) -> None:
        server.answer = knows_dora
        _, headers, _ = await browser.send("POST", "/session", json={"token": "doras-token"})
        name, *attributes = (each.strip() for each in headers["Set-Cookie"].split(";"))
        assert name.startswith("__Host-muster=")
        assert set(attributes) == {"HttpOnly", "SameSite=Strict", "Path=/", "Secure"}
        assert "Strict-Transport-Security" in headers

    run(story, SETTINGS)


def test_a_token_that_fits_into_no_cookie_is_refused_in_words() -> None:
    async def known(_: web.Request) -> web.StreamResponse:
        return web.json_response({})

    async def story(server: ApiServer, browser: Browser) -> None:
        server.answer = known
        status, _, text = await browser.send("POST", "/session", json={"token": "x" * 4000})
        assert (status, "too long" in text) == (400, True)

    run(story, SETTINGS)


def test_other_hosts_are_refused_and_probes_are_not() -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        assert await browser.code("GET", "/", headers={"Host": "10.0.0.7:8080"}) == 421
        assert await browser.code("GET", "/healthz", headers={"Host": "10.0.0.7:8080"}) == 200

    run(story, SETTINGS)
