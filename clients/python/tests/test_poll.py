"""The line over HTTP, against a desk that does as the test says."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from time import monotonic
from typing import Any

import pytest
from conftest import serving, until, within
from fakedesk import DESCRIPTOR, GATEWAY, SECRET, entry, entry_id, is_token

from nightdesk import End, Entry, Login, Place, limits
from nightdesk.asgi import HttpApp, Receive, Reply, Scope, Send, read_body
from nightdesk.errors import (
    AmbiguousError,
    CallRefusedError,
    FailedError,
    RefusedError,
    RevokedError,
    UnknownOutcomeError,
)
from nightdesk.poll import PollingDesk, PostedLine

CHAT = Place("c1", "discord")


@dataclass
class PollDesk(HttpApp):
    """The routes below /v1/line. A take that has nothing to return waits for `ring`."""

    url: str = ""
    lines: int = 0
    position: int = 0
    frames: list[dict[str, Any]] = field(default_factory=list)
    # The frames of each position, for a response that was lost.
    given: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    # Replies that take the place of the next ones, by route.
    replies: dict[str, list[Reply]] = field(default_factory=dict)
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    results: list[dict[str, Any]] = field(default_factory=list)
    ring: asyncio.Event = field(default_factory=asyncio.Event)

    def bodies(self, route: str) -> list[dict[str, Any]]:
        return [body for called, body in self.calls if called == route]

    def deliver(self, *frames: dict[str, Any]) -> None:
        self.frames.extend(frames)
        self.ring.set()

    async def _respond(self, scope: Scope, receive: Receive) -> Reply:
        route = scope["path"].removeprefix("/v1/line/")
        headers = dict(scope["headers"])
        assert is_token(headers[b"authorization"].decode())
        body = json.loads(await read_body(receive) or b"")
        self.calls.append((route, body))
        if self.replies.get(route):
            return self.replies[route].pop(0)
        if route == "take":
            return await self._take(body)
        if route == "ack":
            return Reply(204)
        if route == "send":
            return reply(self.results.pop(0) if self.results else {"success": True, "message_id": "m9"})
        return Reply(204)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers with the headers of the next reply, too."""

        async def with_headers(message: Scope) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self.headers]
                self.headers = []
            await send(message)

        await super().__call__(scope, receive, with_headers)

    async def _take(self, body: dict[str, Any]) -> Reply:
        answer: dict[str, Any] = {}
        if body.get("line") is None:
            self.lines += 1
            self.position = 0
            answer["descriptors"] = [{"type": "descriptor", "descriptor": DESCRIPTOR} for _ in body["hellos"]]
        elif not self.frames:
            self.ring.clear()
            try:
                async with asyncio.timeout(0.2):
                    await self.ring.wait()
            except TimeoutError:
                pass
        asked = f"{self.lines}.{self.position}"
        if body.get("line") not in (None, asked) or asked not in self.given:
            self.given[asked], self.frames = self.frames, []
        self.position += 1
        return reply(answer | {"line": f"{self.lines}.{self.position}", "frames": self.given[asked]})


def reply(body: dict[str, Any], status: int = 200) -> Reply:
    return Reply(status, json.dumps(body).encode(), "application/json")


@pytest.fixture
async def poll(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[PollDesk]:
    monkeypatch.setattr(limits, "TAKE_AGAIN", 0.01)
    desk = PollDesk()
    async with serving(desk) as desk.url:
        yield desk


def connect(poll: PollDesk, **options: Any) -> PollingDesk:
    return PollingDesk(poll.url, GATEWAY, SECRET, **options)


async def test_entries_come_and_are_acked(poll: PollDesk) -> None:
    async with connect(poll, bots=(("discord", "b1"), ("telegram", ""))) as agent:
        assert len(await within(agent.handshake())) == 2
        poll.deliver(entry(1, "one"), entry(2, "two"))
        texts = []
        async for taken in agent.entries():
            texts.append(taken.text)
            await taken.ack()
            if len(texts) == 2:
                break
        await until(lambda: len(poll.bodies("ack")) == 2)

    first, second, third = poll.bodies("take")[:3]
    assert texts == ["one", "two"]
    assert first["line"] is None
    assert first["client"]["name"] == "nightdesk-python"
    assert first["hellos"] == [{"platform": "discord", "botId": "b1"}, {"platform": "telegram", "botId": ""}]
    assert second == {"wait_seconds": 25, "line": "1.1"}
    assert third["line"] == "1.2"
    assert [ack["buffer_ids"] for ack in poll.bodies("ack")] == [[entry_id(1)], [entry_id(2)]]
    assert poll.bodies("idle")


async def test_an_ack_that_did_not_arrive_is_repeated(poll: PollDesk) -> None:
    poll.replies["ack"] = [Reply(503)]
    async with connect(poll) as agent:
        await within(agent.handshake())
        poll.deliver(entry(1))
        async for taken in agent.entries():
            await taken.ack()
            break
        await until(lambda: len(poll.bodies("ack")) == 2)
        assert [ack["buffer_ids"] for ack in poll.bodies("ack")] == [[entry_id(1)]] * 2


async def test_a_take_whose_response_was_lost_names_the_same_position(poll: PollDesk) -> None:
    poll.replies["take"] = []
    async with connect(poll) as agent:
        await within(agent.handshake())
        poll.replies["take"] = [Reply(502), Reply(502)]
        await until(lambda: not poll.replies["take"])
        poll.deliver(entry(1))
        assert (await within(anext(agent.entries()))).id == entry_id(1)
    names = [body.get("line") for body in poll.bodies("take")]
    assert len(names) > len(set(names))
    assert poll.lines == 1


async def test_a_line_that_is_gone_is_opened_again(poll: PollDesk) -> None:
    seen: list[str | None] = []

    async def handle(entry: Entry) -> None:
        seen.append(entry.id)

    agent = connect(poll)
    running = asyncio.create_task(agent.run(handle))
    await until(lambda: poll.lines == 1)
    poll.deliver(entry(1))
    await until(lambda: poll.bodies("ack"))
    poll.replies["take"] = [reply({"code": "line-gone", "detail": "replaced by a newer line"}, 410)]
    await until(lambda: poll.lines == 2)
    assert "replaced by a newer line" in (agent.trouble or "")
    # The ack was lost with the line.
    poll.deliver(entry(1))
    await until(lambda: len(poll.bodies("ack")) == 2)
    assert seen == [entry_id(1)]
    await agent.disconnect()
    await within(running)


async def test_a_revoked_gateway_stops(poll: PollDesk) -> None:
    poll.replies["take"] = [reply({"code": "gateway-revoked"}, 403)] * 2
    with pytest.raises(RevokedError):
        await within(connect(poll).run(lambda entry: entry.ack()))


async def test_an_agent_without_a_gateway_is_not_revoked(poll: PollDesk) -> None:
    poll.replies["take"] = [reply({"code": "forbidden", "detail": "the agent has no gateway"}, 403)] * 3
    async with connect(poll) as agent:
        await within(agent.handshake())


async def test_a_busy_desk_is_called_again_when_it_says(poll: PollDesk) -> None:
    async with connect(poll) as agent:
        await within(agent.handshake())
        takes = len(poll.bodies("take"))
        poll.replies["take"], poll.headers = [Reply(503)], [(b"retry-after", b"1")]
        await until(lambda: not poll.replies["take"])
        began = monotonic()
        await until(lambda: len(poll.bodies("take")) >= takes + 2)
        # The fixture bounds the wait.
        assert monotonic() - began >= limits.RETRY_AFTER_MAX - 0.1


async def test_a_called_agent_sends_and_acknowledges_without_a_line(poll: PollDesk) -> None:
    async with PostedLine(poll.url, Login.gateway(GATEWAY, SECRET)) as line:
        assert (await line.send(Place("c1", "discord", "b1"), "hi", reply_to="m1")).message_id == "m9"
        await line.ack(entry_id(1), entry_id(2))
        poll.replies = {"send": [Reply(410)], "ack": [reply({"code": "line-gone"}, 410)]}
        with pytest.raises(UnknownOutcomeError) as unknown:
            await line.send(CHAT, "hi")
        await line.act("send", CHAT, request_id=unknown.value.request_id, content="hi")
        with pytest.raises(CallRefusedError, match="line-gone"):
            await line.ack(entry_id(1))

    first, lost, again = poll.bodies("send")
    assert (first["platform"], first["bot_id"], first["action"]["reply_to"]) == ("discord", "b1", "m1")
    assert lost["request_id"] == again["request_id"] != first["request_id"]
    assert not any("line" in body for _, body in poll.calls)
    assert poll.bodies("ack")[0] == {"buffer_ids": [entry_id(1), entry_id(2)]}


async def test_a_refused_token_is_reported(poll: PollDesk) -> None:
    poll.replies["take"] = [reply({"code": "bad-token", "detail": "check the secret"}, 401)]
    async with connect(poll) as agent:
        await until(lambda: agent.trouble)
        assert "check the secret" in (agent.trouble or "")
        await within(agent.handshake())


async def test_sends_have_the_outcomes_of_the_line(poll: PollDesk) -> None:
    async with connect(poll, bots=(("discord", "b1"),)) as agent:
        assert (await within(agent.send(CHAT, "hi"))).message_id == "m9"
        poll.results = [{"success": False, "code": "egress_declined", "error": "no"}]
        with pytest.raises(RefusedError):
            await within(agent.send(CHAT, "hi"))
        poll.results = [{"success": False, "ambiguous": True}]
        with pytest.raises(AmbiguousError):
            await within(agent.send(CHAT, "hi"))
        poll.replies["send"] = [reply({"code": "bad", "detail": "no op"}, 400), Reply(429), Reply(500), Reply(410)]
        for reason in ("no op", "429"):
            with pytest.raises(FailedError, match=reason):
                await within(agent.send(CHAT, "hi"))
        for _ in range(2):
            with pytest.raises(UnknownOutcomeError, match="no result came"):
                await within(agent.send(CHAT, "hi"))

    first = poll.bodies("send")[0]
    assert (first["platform"], first["bot_id"]) == ("discord", "b1")
    assert first["action"]["content"] == "hi"
    assert len({body["request_id"] for body in poll.bodies("send")}) == 7


async def test_a_stop_is_answered(poll: PollDesk) -> None:
    agent = connect(poll)
    running = asyncio.create_task(agent.run(lambda entry: entry.stopped()))
    await until(lambda: poll.lines)
    poll.deliver(entry(1))
    await until(lambda: not agent._turns.is_settled)
    session = "agent:main:discord:dm:c1"
    poll.deliver({"type": "interrupt_inbound", "session_key": session, "chat_id": "", "stop_id": "stop_1"})
    await until(lambda: poll.bodies("stopped"))
    stopped = poll.bodies("stopped")[0]
    assert (stopped["stop_id"], stopped["stopped"]) == ("stop_1", True)
    await agent.disconnect()
    await within(running)


async def test_a_polling_agent_goes_idle_and_falls_asleep(poll: PollDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    async with connect(poll) as agent:
        await within(agent.handshake())
        assert await within(agent.go_idle()) is True
    assert len(poll.bodies("idle")) == 1

    monkeypatch.setattr(limits, "SLEEP_AFTER_MIN", 0.1)
    assert await within(connect(poll, sleep_after=0.3).run(lambda entry: entry.ack())) is End.ASLEEP
    assert len(poll.bodies("idle")) == 2


async def test_a_silent_desk_is_left(poll: PollDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DEAD_LINE", 0.3)
    async with connect(poll) as agent:
        await within(agent.handshake())
        poll.replies["take"] = [Reply(503)] * 100
        await until(lambda: agent.trouble)
        assert agent.trouble == "the desk stopped responding"
