"""Letters and the shelf, over HTTP."""

import json
from typing import Any

import pytest
from conftest import ROOT, serving
from fakedesk import GATEWAY, SECRET, is_token

from nightdesk import Login, limits
from nightdesk.asgi import HttpApp, Receive, Reply, Scope, Send, read_body
from nightdesk.errors import CallRefusedError, UnansweredError, UnreadableError
from nightdesk.peers import Peers

LOGIN = Login.gateway(GATEWAY, SECRET)


class Peer(HttpApp):
    """A desk that answers every call alike, and remembers the calls."""

    def __init__(self, body: Any, status: int = 200) -> None:
        self.reply = Reply(status, json.dumps(body).encode(), "application/json")
        self.calls: list[tuple[str, str, Any]] = []

    async def _respond(self, scope: Scope, receive: Receive) -> Reply:
        assert is_token(dict(scope["headers"])[b"authorization"].decode())
        body = await read_body(receive)
        query = scope["query_string"].decode()
        path = scope["raw_path"].decode() + (f"?{query}" if query else "")
        self.calls.append((scope["method"], path, json.loads(body) if body else None))
        return self.reply


SENT = {"agent": "owl", "dispatch_id": "d1", "dispatched": [], "response": {"content": "sunny"}}
CALLS: list[tuple[Any, Any, tuple[str, str, Any]]] = [
    (lambda p: p.list_agents(), {"agents": [{"agent_id": "a"}]}, ("GET", "/v1/agents", None)),
    (
        lambda p: p.notify("owl@kitchen", "hi", dispatch_id="d1", kind="template"),
        SENT,
        (
            "POST",
            "/v1/letters",
            {"op": "notify", "agent": "owl@kitchen", "message": "hi", "dispatch_id": "d1", "kind": "template"},
        ),
    ),
    (
        lambda p: p.deliver("owl", "hi"),
        SENT,
        ("POST", "/v1/letters", {"op": "deliver", "agent": "owl", "message": "hi"}),
    ),
    (
        lambda p: p.wake("owl", "hi", when=5, session_id="kitchen"),
        SENT,
        ("POST", "/v1/letters", {"op": "wake", "agent": "owl", "message": "hi", "when": 5, "session_id": "kitchen"}),
    ),
    (
        lambda p: p.exchange("owl", "hi?", 2.5),
        SENT,
        ("POST", "/v1/letters", {"op": "exchange", "agent": "owl", "message": "hi?", "timeout_ms": 2_500}),
    ),
    (lambda p: p.letters("l/1"), {"letters": []}, ("GET", "/v1/letters?before=l%2F1", None)),
    (lambda p: p.letters(), {"letters": []}, ("GET", "/v1/letters", None)),
    (lambda p: p.letter("../a?b"), {"letter_id": "l"}, ("GET", "/v1/letters/%2E%2E%2Fa%3Fb", None)),
    (lambda p: p.skill_list(status="Draft"), {"skills": []}, ("GET", "/v1/skills?status=Draft", None)),
    (lambda p: p.skill_read("brief", "abc"), {"name": "brief"}, ("GET", "/v1/skills/brief?version=abc", None)),
    (lambda p: p.skill_versions("brief"), [{"name": "brief"}], ("GET", "/v1/skills/brief/versions", None)),
    (
        lambda p: p.skill_write("brief", "# Skill: brief\n", overwrite=True),
        {"name": "brief"},
        ("POST", "/v1/skills", {"name": "brief", "source": "# Skill: brief\n", "overwrite": True}),
    ),
    (
        lambda p: p.skill_status("brief", "Approved"),
        {"name": "brief"},
        ("POST", "/v1/skills/brief/status", {"status": "Approved"}),
    ),
    (
        lambda p: p.data_query("kettle", 3, domain_tags="kitchen"),
        {"items": []},
        ("POST", "/v1/data/query", {"query": "kettle", "limit": 3, "domain_tags": "kitchen"}),
    ),
    (lambda p: p.data_read("d1"), {"id": "d1"}, ("GET", "/v1/data/d1", None)),
    (
        lambda p: p.data_write("The kettle is blue.", tags=["kitchen"]),
        {"id": "d1"},
        ("POST", "/v1/data", {"content": "The kettle is blue.", "tags": ["kitchen"]}),
    ),
]


@pytest.mark.parametrize(("call", "response", "want"), CALLS)
async def test_every_call_has_its_route_and_body(call: Any, response: Any, want: tuple[str, str, Any]) -> None:
    desk = Peer(response)
    async with serving(desk) as url, Peers(url, LOGIN) as peers:
        found = await call(peers)

    assert desk.calls == [want]
    whole = response if not isinstance(response, dict) else [*response.values(), response]
    assert found in whole or found == whole


def test_every_route_is_one_of_the_desk() -> None:
    known = json.loads((ROOT / "docs/openapi.json").read_text())["paths"]
    for _, _, (method, path, _) in CALLS:
        parts = path.partition("?")[0].split("/")
        matches = [route for route in known if matches_route(route.split("/"), parts)]
        assert any(method.lower() in known[route] for route in matches), path


def matches_route(route: list[str], parts: list[str]) -> bool:
    return len(route) == len(parts) and all(
        name == part or name.startswith("{") for name, part in zip(route, parts, strict=True)
    )


async def test_what_does_not_exist_is_none() -> None:
    desk = Peer({"code": "not-found"}, 404)
    async with serving(desk) as url, Peers(url, LOGIN) as peers:
        assert await peers.letter("l1") is None
        assert await peers.skill_read("brief") is None
        assert await peers.skill_versions("brief") is None
        assert await peers.data_read("d1") is None
        with pytest.raises(CallRefusedError):
            await peers.list_agents()


@pytest.mark.parametrize(
    ("status", "passes"), [(400, False), (403, False), (408, True), (429, True), (503, True), (504, True)]
)
async def test_an_error_says_whether_it_passes(status: int, passes: bool) -> None:
    desk = Peer({"code": "no-reply", "detail": "the agent did not reply in time"}, status)
    async with serving(desk) as url, Peers(url, LOGIN) as peers:
        with pytest.raises(CallRefusedError) as raised:
            await peers.exchange("owl", "hi?")

    assert (raised.value.status, raised.value.code, raised.value.passes) == (status, "no-reply", passes)
    said = f"could not send a letter: the agent did not reply in time (no-reply, status {status})"
    assert str(raised.value) == said


async def test_an_exchange_waits_five_minutes_at_most() -> None:
    desk = Peer(SENT)
    async with serving(desk) as url, Peers(url, LOGIN) as peers:
        assert await peers.exchange("owl", "hi?", 9_999) == {"content": "sunny"}
    assert desk.calls[0][2]["timeout_ms"] == 300_000


@pytest.mark.parametrize("body", [[], 7, {"agents": 7}, {}])
async def test_a_response_of_another_kind_is_unreadable(body: Any) -> None:
    async with serving(Peer(body)) as url, Peers(url, LOGIN) as peers:
        with pytest.raises(UnreadableError):
            await peers.exchange("owl", "hi?")


async def test_a_response_is_bounded() -> None:
    async with serving(Peer({"agents": [], "more": "x" * limits.ANSWER_BYTES_MAX})) as url, Peers(url, LOGIN) as peers:
        with pytest.raises(UnreadableError, match="too long"):
            await peers.list_agents()
    async with Peers("http://127.0.0.1:9", LOGIN) as peers:
        with pytest.raises(UnansweredError) as raised:
            await peers.list_agents()
        assert raised.value.passes
    with pytest.raises(UnansweredError, match="closed"):
        await peers.list_agents()


async def test_no_redirect_gets_the_token() -> None:
    paths: list[str] = []

    async def redirect(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            paths.append(scope["path"])
            await read_body(receive)
            headers = [(b"location", b"/elsewhere"), (b"content-length", b"0")]
            await send({"type": "http.response.start", "status": 307, "headers": headers})
            await send({"type": "http.response.body"})

    async with serving(redirect) as url, Peers(url, LOGIN) as peers:
        with pytest.raises(CallRefusedError) as raised:
            await peers.list_agents()
    assert raised.value.status == 307
    assert paths == ["/v1/agents"]
