"""Dials, their backoff, and the ends of lines."""

import asyncio
import logging
import time

import pytest
from conftest import Connect, until, within
from fakedesk import GATEWAY, SECRET, FakeDesk, entry

from nightdesk import Desk, End, Entry, Login, Place, limits
from nightdesk.backoff import Backoff
from nightdesk.errors import LineError, NoLineError, OverError, RevokedError, read_retry_after
from nightdesk.line import Line
from nightdesk.login import read_address, relay_url


@pytest.mark.parametrize(
    ("url", "want"),
    [
        ("https://desk.example", "wss://desk.example/relay"),
        ("wss://desk.example/relay/", "wss://desk.example/relay"),
        (" http://desk:1/x ", "ws://desk:1/x/relay"),
        ("WS://[::1]:8800", "ws://[::1]:8800/relay"),
    ],
)
def test_dials_where_every_client_dials(url: str, want: str) -> None:
    assert relay_url(read_address(url)) == want


@pytest.mark.parametrize(
    "url",
    ["desk.example", "ftp://desk.example", "https://", "https://desk.example/relay?a=1", "https://user:word@desk"],
)
def test_refuses_what_is_no_address(url: str) -> None:
    with pytest.raises(ValueError, match="not the URL of a desk"):
        Desk(url, GATEWAY, SECRET)


def test_refuses_settings_before_it_dials() -> None:
    with pytest.raises(ValueError, match="name and secret of a gateway"):
        Desk("http://desk", "a:b", SECRET)
    with pytest.raises(ValueError, match="name and secret of a gateway"):
        Desk("http://desk", GATEWAY, "")
    with pytest.raises(ValueError, match="sleeps after"):
        Desk("http://desk", GATEWAY, SECRET, sleep_after=limits.SLEEP_AFTER_MIN - 1)
    with pytest.raises(ValueError, match="at most 16 bots"):
        Desk("http://desk", GATEWAY, SECRET, bots=(("discord", ""),) * 17)


def test_reads_its_settings_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTDESK_URL", "https://desk.example")
    monkeypatch.setenv("NIGHTDESK_GATEWAY", GATEWAY)
    monkeypatch.delenv("NIGHTDESK_SECRET", raising=False)
    with pytest.raises(ValueError, match="set NIGHTDESK_SECRET"):
        Desk.from_env()
    monkeypatch.setenv("NIGHTDESK_SECRET", SECRET)
    assert isinstance(Desk.from_env(), Desk)


def test_the_backoff_doubles_to_its_top(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BACKOFF_FIRST", 1.0)
    monkeypatch.setattr(limits, "BACKOFF_MAX", 30.0)
    backoff = Backoff(lambda: 1.0)

    assert [backoff.next_delay() for _ in range(7)] == [1, 2, 4, 8, 16, 30, 30]
    backoff.record_line(59.9)
    assert backoff.next_delay() == 30
    backoff.record_line(60.0)
    assert backoff.next_delay(5.0) == 5
    assert backoff.next_delay(5.0) == 5
    assert backoff.next_delay(5.0) == 5
    assert backoff.next_delay(5.0) == 8
    assert Backoff(lambda: 0.25).next_delay() == 0.25


def test_only_a_line_that_lived_forgets_a_revocation() -> None:
    backoff = Backoff()
    assert not backoff.count_revocation()
    backoff.record_line(60.0)
    assert not backoff.count_revocation()
    assert backoff.count_revocation()


async def test_a_refused_dial_is_repeated_with_a_new_token(
    desk: FakeDesk, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    desk.refusals = [(401, {}), (503, {"Retry-After": "2"})]
    async with connect() as agent:
        began = asyncio.get_running_loop().time()
        await desk.line()
        # The test's bound of a Retry-After is 0.3 s.
        assert asyncio.get_running_loop().time() - began >= 0.3
        assert len(desk.dials) == 3
        assert agent.trouble is not None
    assert "HTTP status 401 (check the gateway's name and secret, and this machine's clock)" in caplog.text


async def test_a_redirect_is_not_followed(desk: FakeDesk, connect: Connect) -> None:
    desk.refusals = [(307, {"Location": "ws://127.0.0.1:9/relay"})]
    async with connect() as agent:
        await desk.line()
        assert "HTTP status 307" in (agent.trouble or "")


async def test_an_unreachable_desk_is_dialled_until_it_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "GREET_WAIT", 0.1)
    async with Desk("http://127.0.0.1:9", GATEWAY, SECRET) as agent:
        with pytest.raises(NoLineError, match="cannot be reached"):
            await agent.handshake()
        assert agent.end is None


async def test_a_revoked_gateway_dials_once_more_and_stops(desk: FakeDesk, connect: Connect) -> None:
    agent = connect()

    async def handle(_: Entry) -> None:
        raise AssertionError

    running = asyncio.create_task(agent.run(handle))
    for _ in range(2):
        line = await desk.line()
        await line.next("hello")
        await line.close(4401, "revoked")
    with pytest.raises(RevokedError):
        await within(running)
    assert agent.end is End.REVOKED
    await asyncio.sleep(0.1)
    assert len(desk.dials) == 2
    with pytest.raises(OverError):
        await agent.send(Place("c1"), "too late")


async def test_an_expired_token_is_no_revocation(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        for _ in range(4):
            line = await desk.line()
            await within(agent.handshake())
            await line.close(4401, "expired")
        await desk.line()
        assert agent.end is None


async def test_a_loop_over_entries_reports_a_revocation(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        loop = asyncio.ensure_future(anext(agent.entries()))
        for _ in range(2):
            await (await desk.line()).close(4401)
        with pytest.raises(RevokedError):
            await within(loop)


@pytest.mark.parametrize("code", [1000, 1008, 1009, 1011, 1012, 1013, 4409, 4999])
async def test_every_other_code_is_dialled_again(desk: FakeDesk, connect: Connect, code: int) -> None:
    async with connect() as agent:
        for _ in range(3):
            line = await desk.line()
            await within(agent.handshake())
            await line.close(code)
        await desk.line()
        assert agent.trouble is not None
        assert f"code {code}" in agent.trouble
        assert ("another process" in agent.trouble) == (code == 4409)


async def test_a_broken_connection_is_dialled_again(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        line.socket.transport.abort()
        await desk.line()
        assert "code 1006" in (agent.trouble or "")


async def test_the_old_line_is_closed_before_a_new_dial(
    desk: FakeDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "DEAD_LINE", 0.2)
    monkeypatch.setattr(limits, "PING_EVERY", 60.0)
    async with connect():
        line = await desk.line()
        assert await line.close_code() == 1001
        assert len(desk.dials) == 1
        await desk.line()


async def test_a_pong_keeps_a_quiet_line_alive(
    desk: FakeDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "DEAD_LINE", 0.8)
    monkeypatch.setattr(limits, "PING_EVERY", 0.1)
    async with connect() as agent:
        await desk.line()
        await within(agent.handshake())
        await asyncio.sleep(1.2)
        assert len(desk.dials) == 1
        assert agent.is_live


class QuietLine(Line):
    """A line on which nothing comes."""

    async def write(self, frame: bytes) -> None: ...

    async def ping(self) -> None: ...

    async def close(self, code: int) -> None: ...

    async def _next_frames(self) -> list[dict[str, object]]:
        return await asyncio.Event().wait() and []


async def test_a_line_is_silent_only_without_any_sign_of_life(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "DEAD_LINE", 0.2)
    line = QuietLine()

    def record_pong() -> None:
        line.alive_at = time.monotonic()

    asyncio.get_running_loop().call_later(0.1, record_pong)
    assert await within(line.receive(float("inf"))) == []
    with pytest.raises(LineError, match="stopped responding"):
        await within(line.receive(float("inf")))


async def test_a_change_of_state_ends_the_wait_for_frames() -> None:
    line = QuietLine()
    asyncio.get_running_loop().call_later(0.01, line.stir)
    assert await within(line.receive(float("inf"))) == []
    line.stir()
    assert await within(line.receive(float("inf"))) == []


async def test_a_frame_that_never_ends_closes_the_line(
    desk: FakeDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with connect() as agent:
        line = await desk.line()
        await within(agent.handshake())
        monkeypatch.setattr(limits, "FRAME_BYTES_MAX", 1_000)
        await line.socket.send("x" * 1_001)
        assert await line.close_code() == 1009
        await until(lambda: "too long" in (agent.trouble or ""))


async def test_a_token_of_another_issuer_is_shown_as_it_is(desk: FakeDesk) -> None:
    desk.refusals = [(401, {})]
    async with Desk(desk.url, "", "", login=Login(lambda: "a.b.c")):
        await until(lambda: desk.dials)
        assert desk.dials[0]["Authorization"] == "Bearer a.b.c"


async def test_an_agent_connects_once(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        with pytest.raises(RuntimeError, match="connects once"):
            await agent.__aenter__()
        await desk.line()
    assert agent.end is End.DISCONNECTED


def test_a_hint_says_what_to_do() -> None:
    assert str(LineError("the line ended with code 4401", 4401)).endswith("(the gateway was revoked)")
    assert str(LineError("the line ended with code 1006", 1006)) == "the line ended with code 1006"


@pytest.mark.parametrize(
    ("header", "want"), [(None, 0.0), ("2", 0.3), ("0", 0.0), ("soon", 0.0), ("-1", 0.0), ("Wed, 21 Oct 2026", 0.0)]
)
def test_a_retry_after_has_a_bound(header: str | None, want: float) -> None:
    # The test's bound is 0.3 s.
    assert read_retry_after(header) == want


async def test_logs_show_no_secret_no_token_and_no_text(
    desk: FakeDesk, connect: Connect, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    desk.refusals = [(401, {})]
    agent = connect()

    async def handle(entry: Entry) -> None:
        await entry.reply("canary-reply")
        raise ValueError(f"cannot parse {entry.text}")

    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(entry(1, "canary-text"))
    await line.next("outbound")
    await until(lambda: "ValueError" in caplog.text)
    await line.close(1011)
    await desk.line()
    await agent.disconnect()
    await within(running)

    tokens = [headers["Authorization"].removeprefix("Bearer ") for headers in desk.dials]
    shown = caplog.text + repr(agent) + str(agent.trouble)
    # The fake desk's own library logs frames and headers under its own name.
    ours = "\n".join(r.getMessage() for r in caplog.records if not r.name.startswith("websockets.server"))
    assert "a turn failed" in ours
    assert "test_lines.py" in ours
    for canary in ("canary-text", "canary-reply", SECRET, *tokens):
        assert canary not in ours, canary
        assert canary not in repr(agent)
    assert len(tokens) == 3
    assert shown
