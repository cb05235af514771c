"""Agents on each transport, against the real desk. Runs if NIGHTDESK_BIN names a `nightdesk` binary."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import uuid4

import pytest
import pytest_asyncio
from conftest import serving, until, within
from realdesk import RealDesk, Visitor, real_desk

from nightdesk import Desk, End, Entry, Login, Place, Turn, build_action, limits
from nightdesk.errors import CallRefusedError, FailedError, RefusedError, RevokedError, UnknownOutcomeError
from nightdesk.poll import PollingDesk, PostedLine
from nightdesk.webhook import LATER, Answer, WebhookApp

pytestmark = [
    pytest.mark.desk,
    pytest.mark.skipif(not os.environ.get("NIGHTDESK_BIN"), reason="NIGHTDESK_BIN names no binary"),
    pytest.mark.asyncio(loop_scope="module"),
]
WAIT = 30.0
# Both kinds of lines that an agent opens, and their transport.
each_line = pytest.mark.parametrize(("kind", "transport"), [(Desk, "websocket"), (PollingDesk, "polling")])


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real() -> AsyncIterator[RealDesk]:
    async with real_desk() as desk:
        yield desk


async def status(real: RealDesk) -> dict[str, Any]:
    """Returns the state of the agent: its transport, and the number of entries that wait for it."""
    words = ["wake", "status", "--tenant", real.tenant, "--agent", "helper"]
    return dict(await asyncio.to_thread(real.ask, *words))


async def settles(real: RealDesk, transport: str) -> None:
    """Waits until no entry waits, and checks the transport of the last line."""
    async with asyncio.timeout(WAIT):
        while (state := await status(real))["waiting"] != 0:
            await asyncio.sleep(0.1)
    assert state["transport"] == transport


async def test_a_polling_agent_answers_edits_and_asks(real: RealDesk) -> None:
    pressed: list[str] = []

    async def handle(entry: Entry) -> None:
        if entry.prompt_response:
            pressed.append(entry.prompt_response["option_id"])
            return
        # The bot that was addressed, and so the one that answers.
        assert entry.place.bot == entry.source.bot_id == "owl"
        await entry.desk.typing(entry.place)
        receipt = await entry.reply(f"you wrote {entry.text}")
        assert receipt.message_id is not None
        await entry.desk.edit(entry.place, receipt.message_id, f"you really wrote {entry.text}")
        await entry.desk.prompt(entry.place, "Sure?", {"yes": "Certainly"}, prompt_id="p1")
        with pytest.raises(FailedError, match="op not supported"):
            await entry.desk.react(entry.place, receipt.message_id, "👍")
        with pytest.raises(RefusedError):
            await entry.desk.send(Place("a-stranger", "webchat"), "hello")
        repeated = [await entry.desk.act("send", entry.place, request_id="once", content="once") for _ in range(2)]
        assert repeated[0] == repeated[1]

    agent = PollingDesk(*real.create_gateway("gw-polls"))
    running = asyncio.create_task(agent.run(handle))
    descriptors = await within(agent.handshake(), WAIT)
    assert descriptors[0].platform == "relay"
    async with Visitor(real.page) as visitor:
        await visitor.write("good morning")
        await visitor.sees("you really wrote good morning")
        await visitor.write("", press=await visitor.button("Certainly"))
        await until(lambda: pressed == ["yes"], WAIT)
        assert (await visitor.sees("once")).count(">once<") == 1
        await settles(real, "polling")
    assert await within(agent.go_idle(), WAIT) is True
    assert await within(running) is End.IDLE


@each_line
async def test_what_failed_comes_again_and_what_waited_comes_in_order(
    real: RealDesk, kind: type[Desk], transport: str
) -> None:
    login = real.create_gateway(f"gw-order-{transport}")
    async with Visitor(real.page) as visitor:
        for number in range(5):
            await visitor.write(f"number {number}")
        async with kind(*login) as agent:
            with pytest.raises(ZeroDivisionError):
                async for entry in agent.entries():
                    assert entry.text == "number 0"
                    raise ZeroDivisionError
        texts: list[str] = []
        async with kind(*login) as agent:
            async for entry in agent.entries():
                texts.append(entry.text)
                if len(texts) == 5:
                    await entry.ack()
                    break
            await settles(real, transport)
            assert await within(agent.go_idle(), WAIT)
        assert texts == [f"number {number}" for number in range(5)]


async def test_a_polling_agent_sleeps_and_its_entries_wait(real: RealDesk) -> None:
    login = real.create_gateway("gw-polls-asleep")
    asleep = PollingDesk(*login, sleep_after=limits.SLEEP_AFTER_MIN)
    assert await within(asleep.run(lambda entry: entry.ack()), WAIT) is End.ASLEEP
    async with Visitor(real.page) as visitor, PollingDesk(*login) as agent:
        await visitor.write("wake up")
        entry = await within(anext(agent.entries()), WAIT)
        await entry.reply("I am up")
        await entry.ack()
        await visitor.sees("I am up")


async def test_a_newer_line_ends_a_polled_one_and_a_restart_opens_another(real: RealDesk) -> None:
    agent = PollingDesk(*real.create_gateway("gw-polls-first"))
    running = asyncio.create_task(agent.run(lambda entry: entry.reply(f"still here: {entry.text}")))
    await within(agent.handshake(), WAIT)
    async with PollingDesk(*real.create_gateway("gw-polls-second")) as second:
        await within(second.handshake(), WAIT)
        await until(lambda: "replaced by a newer line" in (agent.trouble or ""), WAIT)
    await real.stop()
    await real.start()
    async with Visitor(real.page) as visitor:
        await visitor.write("anybody?")
        await visitor.sees("still here: anybody?", 90.0)
    assert await within(agent.go_idle(), WAIT)
    await within(running)


@asynccontextmanager
async def called(real: RealDesk, handler: Any, *, rotates: bool = False) -> AsyncIterator[None]:
    """Lets the desk call a function with each entry. The desk speaks for a gateway of the agent."""
    await asyncio.to_thread(real.create_gateway, f"gw-called-{uuid4().hex[:8]}")
    words = ["agent", "webhook", "--tenant", real.tenant, "--agent", "helper"]
    url = f"http://127.0.0.1:{real.callback_port}/entries"
    set_up = await asyncio.to_thread(real.ask, *words, url)
    app = WebhookApp(handler, set_up["secret"])
    if rotates:
        # For a day the desk signs with both, so an agent that has only the older one continues.
        assert (await asyncio.to_thread(real.ask, *words, url))["secret"] != set_up["secret"]
    async with serving(app, real.callback_port):
        yield
    await asyncio.to_thread(real.run, *words, "--clear")


@pytest.mark.parametrize("rotates", [False, True])
async def test_a_function_answers_with_a_text_and_with_actions(real: RealDesk, rotates: bool) -> None:
    async def handle(turn: Turn) -> Answer:
        if turn.text == "both":
            options = [{"id": "yes", "label": "Certainly"}]
            prompt = {"prompt_kind": "choice", "prompt_id": "p1", "content": "Sure?", "options": options}
            return {"text": "the text", "actions": [build_action("prompt", turn.place, prompt)]}
        if turn.text == "actions":
            return [build_action("send", Place(""), {"content": text}) for text in ("first", "second")]
        return None if turn.text == "nothing" else f"you wrote {turn.prompt_response.get('option_id', turn.text)}"

    async with called(real, handle, rotates=rotates), Visitor(real.page) as visitor:
        await visitor.write("good morning")
        await visitor.sees("you wrote good morning")
        await visitor.write("nothing")
        await visitor.write("actions")
        page = await visitor.sees("second")
        assert page.index(">first<") < page.index(">second<")
        await visitor.write("both")
        await visitor.sees("the text")
        await visitor.write("", press=await visitor.button("Certainly"))
        await visitor.sees("you wrote yes")
        await settles(real, "webhook")


async def test_a_function_answers_later(real: RealDesk) -> None:
    taken: asyncio.Queue[Turn] = asyncio.Queue()

    async def handle(turn: Turn) -> Answer:
        await taken.put(turn)
        return LATER

    url, name, secret = real.create_gateway("gw-later")
    async with (
        called(real, handle),
        Visitor(real.page) as visitor,
        PostedLine(url, Login.gateway(name, secret)) as line,
    ):
        await visitor.write("think about it")
        await visitor.write("and about this")
        first = await within(taken.get(), WAIT)
        assert (await status(real))["waiting"] == 2
        await line.typing(first.place)
        sent = await line.send(first.place, "still thinking", reply_to=first.message_id)
        await line.edit(first.place, sent.message_id or "", "thought about it")
        await visitor.sees("thought about it")
        assert taken.empty(), "the next entry of the chat waits for the ack"
        await line.ack(first.id or "")
        second = await within(taken.get(), WAIT)
        assert second.text == "and about this"
        await line.ack(second.id or "")
        await settles(real, "webhook")
        with pytest.raises(RefusedError):
            await line.send(Place("a-stranger", "webchat"), "hello")


async def test_only_an_agent_that_is_called_needs_no_line(real: RealDesk) -> None:
    url, name, secret = real.create_gateway("gw-lineless")
    async with PollingDesk(url, name, secret) as agent, PostedLine(url, Login.gateway(name, secret)) as line:
        await within(agent.handshake(), WAIT)
        with pytest.raises(UnknownOutcomeError):
            await line.send(Place("a-stranger", "webchat"), "hello")
        with pytest.raises(CallRefusedError, match="line-gone"):
            await line.ack("an-entry")


@each_line
async def test_a_revoked_gateway_stops(real: RealDesk, kind: type[Desk], transport: str) -> None:
    name = f"gw-revoked-{transport}"
    agent = kind(*real.create_gateway(name))
    running = asyncio.create_task(agent.run(lambda entry: entry.ack()))
    await within(agent.handshake(), WAIT)
    await asyncio.to_thread(real.run, "gateway", "revoke", "--tenant", real.tenant, "--name", name)
    with pytest.raises(RevokedError):
        await within(running, WAIT)
