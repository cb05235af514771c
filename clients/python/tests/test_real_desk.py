"""The SDK against the real desk. Runs if NIGHTDESK_BIN names a `nightdesk` binary."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest
import pytest_asyncio
from conftest import serving, until, within
from realdesk import RealDesk, Visitor, real_desk

from nightdesk import Desk, End, Entry, Login, Place, limits
from nightdesk.asgi import HttpApp, Receive, Reply, Scope, read_body
from nightdesk.errors import CallRefusedError, FailedError, RefusedError
from nightdesk.fires import FireVerifier
from nightdesk.http import DeskClient
from nightdesk.peers import Peers
from nightdesk.wake import WakeListener

pytestmark = [
    pytest.mark.desk,
    pytest.mark.skipif(not os.environ.get("NIGHTDESK_BIN"), reason="NIGHTDESK_BIN names no binary"),
    pytest.mark.asyncio(loop_scope="module"),
]
WAIT = 30.0


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def real() -> AsyncIterator[RealDesk]:
    async with real_desk() as desk:
        yield desk


async def test_a_person_writes_and_an_agent_answers_edits_and_asks(real: RealDesk) -> None:
    pressed: list[str] = []

    async def handle(entry: Entry) -> None:
        if entry.prompt_response:
            pressed.append(entry.prompt_response["option_id"])
            return
        await entry.desk.typing(entry.place)
        receipt = await entry.reply(f"you wrote {entry.text}")
        assert receipt.message_id is not None
        await entry.desk.edit(entry.place, receipt.message_id, f"you really wrote {entry.text}")
        await entry.desk.prompt(entry.place, "Sure?", {"yes": "Certainly"}, prompt_id="p1")
        info = await entry.desk.get_chat_info(entry.place)
        assert info.chat is not None
        assert info.chat["type"] == "dm"
        with pytest.raises(FailedError, match="op not supported"):
            await entry.desk.react(entry.place, receipt.message_id, "👍")
        with pytest.raises(RefusedError):
            await entry.desk.send(Place("a-stranger", "webchat"), "hello")

    agent = Desk(*real.create_gateway("gw-answers"))
    running = asyncio.create_task(agent.run(handle))
    descriptors = await within(agent.handshake(), WAIT)
    assert descriptors[0].platform == "relay"
    async with Visitor(real.page) as visitor:
        await visitor.write("good morning")
        await visitor.sees("you really wrote good morning")
        await visitor.write("", press=await visitor.button("Certainly"))
        await until(lambda: pressed == ["yes"], WAIT)
    assert await within(agent.go_idle(), WAIT) is True
    assert await within(running) is End.IDLE


async def test_a_desk_that_restarts_gets_its_agent_back(real: RealDesk) -> None:
    async def handle(entry: Entry) -> None:
        await entry.reply(f"still here: {entry.text}")

    agent = Desk(*real.create_gateway("gw-restart"))
    running = asyncio.create_task(agent.run(handle))
    await within(agent.handshake(), WAIT)
    await real.stop()
    await until(lambda: not agent.is_live, WAIT)
    assert agent.trouble is not None
    await real.start()
    await within(agent.handshake(), WAIT)
    async with Visitor(real.page) as visitor:
        await visitor.write("anybody?")
        await visitor.sees("still here: anybody?")
    assert await within(agent.go_idle(), WAIT)
    await within(running)


async def test_a_second_gateway_replaces_the_first(real: RealDesk) -> None:
    async with Desk(*real.create_gateway("gw-first")) as first:
        await within(first.handshake(), WAIT)
        async with Desk(*real.create_gateway("gw-second")) as second:
            await within(second.handshake(), WAIT)
            await until(lambda: "replaced" in (first.trouble or ""), WAIT)


async def test_a_wrong_secret_is_refused_and_reported(real: RealDesk) -> None:
    url, name, _ = real.create_gateway("gw-wrong")
    async with Desk(url, name, "0" * 64) as agent:
        await until(lambda: "401" in (agent.trouble or ""), WAIT)


async def test_an_interrupt_stops_a_turn(real: RealDesk) -> None:
    keys: list[str] = []

    async def handle(entry: Entry) -> None:
        await entry.ack()
        keys.append(entry.session_key)
        await entry.stopped()
        await entry.reply("stopped")

    agent = Desk(*real.create_gateway("gw-stop"))
    running = asyncio.create_task(agent.run(handle))
    async with Visitor(real.page) as visitor:
        await visitor.write("think about it")
        await until(lambda: keys, WAIT)
        await agent.interrupt(keys[0])
        await visitor.sees("stopped")
    assert await within(agent.go_idle(), WAIT)
    await within(running)


async def test_a_quiet_agent_sleeps_and_its_entries_wait(real: RealDesk) -> None:
    login = real.create_gateway("gw-sleep")
    began = time.monotonic()
    end = await within(Desk(*login, sleep_after=limits.SLEEP_AFTER_MIN).run(lambda entry: entry.ack()), WAIT)
    assert end is End.ASLEEP
    assert time.monotonic() - began >= limits.SLEEP_AFTER_MIN
    async with Visitor(real.page) as visitor:
        await visitor.write("wake up")
        async with Desk(*login) as agent:
            async for entry in agent.entries():
                assert entry.text == "wake up"
                await entry.ack()
                break
            assert await within(agent.go_idle(), WAIT)


async def test_letters_and_the_shelf(real: RealDesk) -> None:
    real.create_agent("owl")
    url, name, secret = real.create_gateway("gw-owl", "owl")

    async def handle(entry: Entry) -> None:
        assert entry.letter["kind"] == "augment"
        await entry.reply("sunny")

    agent = Desk(url, name, secret)
    running = asyncio.create_task(agent.run(handle))
    await within(agent.handshake(), WAIT)
    helper = real.create_gateway("gw-letters")
    async with Peers(helper[0], Login.gateway(*helper[1:])) as peers:
        assert {"owl", "helper"} == {known["agent_id"] for known in await peers.list_agents()}
        reply = await peers.exchange("owl", "How is the weather?", 20.0, dispatch_id="weather-1")
        assert reply["content"] == "sunny"
        (letter,) = await peers.letters()
        assert (await peers.letter(letter["letter_id"]) or {})["state"] == "replied"
        assert (await peers.notify("owl", "Thank you."))["dispatched"][0]["ok"]
        assert await peers.letter("00000000-0000-0000-0000-000000000000") is None

        source = "# Skill: brief\n# Status: Draft\n# Description: tells the day\n\nt:\n    emit()\n"
        assert (await peers.skill_write("brief", source))["status"] == "Draft"
        assert (await peers.skill_status("brief", "Approved"))["status"] == "Approved"
        assert "brief" in str(await peers.skill_list(audience="all"))
        assert "emit" in (await peers.skill_read("brief") or {})["source"]
        assert len(await peers.skill_versions("brief") or []) == 2
        kept = await peers.data_write("The kettle is blue.", tags=["kitchen"])
        assert (await peers.data_read(kept["id"]) or {})["detail"] == "The kettle is blue."
        (found,) = await peers.data_query("kettle", domain_tags="kitchen")
        assert found["id"] == kept["id"]
        with pytest.raises(CallRefusedError) as refused:
            await peers.data_query("kettle", colour="blue")
        assert not refused.value.passes
    assert await within(agent.go_idle(), WAIT)
    await within(running)


class FireRoute(HttpApp):
    """Takes fires that the desk signed for this agent."""

    def __init__(self, verifier: FireVerifier) -> None:
        self.verifier = verifier
        self.fires: list[tuple[str, str]] = []

    async def _respond(self, scope: Scope, receive: Receive) -> Reply:
        headers = dict(scope["headers"])
        fire_id = await self.verifier.verify(headers[b"authorization"].decode())
        self.fires.append((fire_id, json.loads(await read_body(receive) or b"")["job_id"]))
        return Reply(202)


async def test_a_fire_is_the_desks(real: RealDesk) -> None:
    login = real.create_gateway("gw-fires")
    verifier = FireVerifier(real.url, real.agent)
    route = FireRoute(verifier)
    callback = f"http://127.0.0.1:{real.callback_port}"
    job = {"job_id": "report", "fire_at": datetime.now(UTC).isoformat(), "agent_callback_url": callback}
    async with serving(route, real.callback_port), DeskClient(real.url, Login.gateway(*login[1:])) as client:
        armed = await client.request("arm a job", "POST", "/api/agent-cron/provision", job | {"dedup_key": "report:1"})
        armed.read(dict)
        await until(lambda: route.fires, WAIT)
    await verifier.close()
    assert route.fires[0][1] == "report"


async def test_the_desk_wakes_a_sleeping_agent(real: RealDesk) -> None:
    secret = "0123456789abcdef"
    url = f"http://127.0.0.1:{real.callback_port}/wake/{secret}"
    await asyncio.to_thread(real.run, "agent", "wake-url", "--tenant", real.tenant, "--agent", "helper", url)
    login, calls = real.create_gateway("gw-woken"), WakeListener(secret)
    async with serving(calls, real.callback_port), Visitor(real.page) as visitor:
        async with Desk(*login) as agent:
            await within(agent.handshake(), WAIT)
            assert await within(agent.go_idle(), WAIT)
        await visitor.write("wake up")
        await within(calls.woken(), WAIT)
        async with Desk(*login) as agent:
            entry = await within(anext(agent.entries()), WAIT)
            await entry.reply("I am up")
            await entry.ack()
        await visitor.sees("I am up")
