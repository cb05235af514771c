"""Stops, going idle, and sleep."""

import asyncio
import contextlib
import os
import signal

import pytest
from conftest import Connect, until, within
from fakedesk import FakeDesk, entry, entry_id
from websockets.exceptions import ConnectionClosed

from nightdesk import End, Entry, Place, limits

SESSION = "agent:main:discord:dm:c1"


def stop(stop_id: str | None = None, session: str = SESSION) -> dict[str, str]:
    return {"type": "interrupt_inbound", "session_key": session, "chat_id": ""} | (
        {"stop_id": stop_id} if stop_id else {}
    )


async def test_a_stop_reaches_the_turn_of_its_session_only(desk: FakeDesk, connect: Connect) -> None:
    stopped: list[str] = []
    begun = 0

    async def handle(entry: Entry) -> None:
        nonlocal begun
        begun += 1
        await entry.stopped()
        assert entry.is_stopped
        stopped.append(entry.source.chat_id)

    agent = connect()
    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(entry(1, chat="c1"), entry(2, chat="c2"))
    await until(lambda: begun == 2)
    await line.send(stop("s1"), stop("s2", "agent:main:discord:dm:nobody"))
    results = [await line.next("interrupt_result") for _ in range(2)]
    assert await line.acked() == entry_id(1)
    await agent.disconnect()
    await within(running)

    assert stopped == ["c1"]
    assert [(result["stop_id"], result["stopped"]) for result in results] == [("s1", True), ("s2", False)]


async def test_a_stop_without_a_turn_is_answered_at_once(desk: FakeDesk, connect: Connect) -> None:
    async with connect():
        line = await desk.line()
        await line.send(stop("s1"), stop())
        assert await line.next("interrupt_result") == {"type": "interrupt_result", "stop_id": "s1", "stopped": False}
        await line.has_no("interrupt_result")


async def test_a_stop_cancels_a_handler_and_its_entry_is_acked(desk: FakeDesk, connect: Connect) -> None:
    begun = asyncio.Event()

    async def handle(_: Entry) -> None:
        begun.set()
        await asyncio.Event().wait()

    agent = connect()
    running = asyncio.create_task(agent.run(handle, cancel_on_stop=True))
    line = await desk.line()
    await line.send(entry(1))
    await within(begun.wait())
    await line.send(stop("s1"))
    assert (await line.next("interrupt_result"))["stopped"] is True
    assert await line.acked() == entry_id(1)
    begun.clear()
    # The worker goes on.
    await line.send(entry(2))
    await within(begun.wait())
    await agent.disconnect()
    await within(running)


async def test_a_handler_may_time_out_by_itself(desk: FakeDesk, connect: Connect) -> None:
    async def handle(_: Entry) -> None:
        raise TimeoutError

    agent = connect()
    running = asyncio.create_task(agent.run(handle, cancel_on_stop=True))
    line = await desk.line()
    await line.send(entry(1))
    await line.has_no("inbound_ack")
    await agent.disconnect()
    await within(running)


async def test_going_idle_lets_turns_end_and_closes_the_line(desk: FakeDesk, connect: Connect) -> None:
    finish = asyncio.Event()
    begun = asyncio.Event()

    async def handle(_: Entry) -> None:
        begun.set()
        await finish.wait()

    agent = connect()
    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(entry(1))
    await within(begun.wait())
    leaving = asyncio.create_task(agent.go_idle())
    await line.next("going_idle")
    await line.has_no("inbound_ack")
    finish.set()
    assert await line.acked() == entry_id(1)
    assert await within(leaving) is True
    assert await line.close_code() == 1000
    assert await within(running) is End.IDLE
    assert len(desk.dials) == 1


async def test_going_idle_takes_a_bounded_time(
    desk: FakeDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "IDLE_WAIT", 0.1)
    cancelled = asyncio.Event()

    async def handle(_: Entry) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    agent = connect()
    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(entry(1))
    await until(lambda: not agent._turns.is_settled)
    assert await within(agent.go_idle()) is False
    assert await line.close_code() == 1000
    assert await within(running) is End.IDLE_CUT_SHORT
    assert cancelled.is_set()
    await line.has_no("inbound_ack", 0)


async def test_a_desk_that_does_not_confirm_is_left(
    desk: FakeDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "IDLE_WAIT", 0.1)
    desk.confirms_idle = False
    async with connect() as agent:
        line = await desk.line()
        await within(agent.handshake())
        assert await within(agent.go_idle()) is False
        assert await line.close_code() == 1000


async def test_going_idle_without_a_line_ends_at_once(
    desk: FakeDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RETRY_AFTER_MAX", 60.0)
    desk.refusals = [(503, {"Retry-After": "60"})] * 9
    async with connect() as agent:
        await until(lambda: agent.trouble)
        assert await within(agent.go_idle()) is True
        assert agent.end is End.IDLE


async def test_a_line_that_ends_while_the_agent_leaves_is_not_dialled_again(desk: FakeDesk, connect: Connect) -> None:
    desk.confirms_idle = False
    async with connect() as agent:
        line = await desk.line()
        await within(agent.handshake())
        leaving = asyncio.create_task(agent.go_idle())
        await line.next("going_idle")
        await line.close(1012)
        assert await within(leaving) is False
        assert len(desk.dials) == 1


async def test_the_first_sigterm_makes_the_agent_go_idle(desk: FakeDesk, connect: Connect) -> None:
    agent = connect()

    async def handle(_: Entry) -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(entry(1))
    assert await line.acked() == entry_id(1)
    await line.next("going_idle")
    assert await within(running) is End.IDLE
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


async def test_a_run_that_is_cancelled_closes_the_line(desk: FakeDesk, connect: Connect) -> None:
    agent = connect()
    running = asyncio.create_task(agent.run(lambda entry: entry.ack()))
    line = await desk.line()
    await line.next("hello")
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await within(running)
    assert await line.close_code() == 1000
    assert not [task for task in asyncio.all_tasks() if task.get_name() == "nightdesk"]


@pytest.fixture
def sleepy(connect: Connect, monkeypatch: pytest.MonkeyPatch) -> Connect:
    """Makes an agent that falls asleep after 0.3 s of quiet."""
    monkeypatch.setattr(limits, "SLEEP_AFTER_MIN", 0.1)
    return lambda: connect(sleep_after=0.3)


async def test_a_quiet_agent_falls_asleep(desk: FakeDesk, sleepy: Connect) -> None:
    agent = sleepy()
    began = asyncio.get_running_loop().time()
    assert await within(agent.run(lambda entry: entry.ack())) is End.ASLEEP
    assert asyncio.get_running_loop().time() - began >= 0.3
    line = await desk.line()
    await line.next("going_idle")
    assert await line.close_code() == 1000


async def test_work_keeps_an_agent_awake(desk: FakeDesk, sleepy: Connect) -> None:
    finish = asyncio.Event()

    async def handle(_: Entry) -> None:
        await finish.wait()

    agent = sleepy()
    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(entry(1))
    await line.has_no("going_idle", 0.6)
    finish.set()
    assert await line.acked() == entry_id(1)
    await line.next("going_idle")
    assert await within(running) is End.ASLEEP


async def test_an_entry_whose_turn_failed_keeps_an_agent_awake(desk: FakeDesk, sleepy: Connect) -> None:
    async def handle(_: Entry) -> None:
        raise ValueError

    agent = sleepy()
    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(entry(1))
    await line.has_no("going_idle", 0.6)
    await agent.disconnect()
    await within(running)


async def test_a_busy_guard_and_a_send_keep_an_agent_awake(desk: FakeDesk, sleepy: Connect) -> None:
    desk.result = lambda _: None
    async with sleepy() as agent:
        line = await desk.line()
        with agent.busy():
            await line.has_no("going_idle", 0.6)
            sending = asyncio.create_task(agent.send(Place("c1"), "hi"))
            frame = await line.next("outbound")
        await line.has_no("going_idle", 0.6)
        await line.send({"type": "outbound_result", "requestId": frame["requestId"], "result": {"success": True}})
        await within(sending)
        await line.next("going_idle")


async def test_an_entry_on_the_way_to_sleep_wakes_the_agent_up(desk: FakeDesk, sleepy: Connect) -> None:
    desk.confirms_idle = False
    agent = sleepy()
    running = asyncio.create_task(agent.run(lambda entry: entry.ack()))
    line = await desk.line()
    await line.next("going_idle")
    await line.send(entry(1), {"type": "going_idle_ack"})
    assert await line.acked() == entry_id(1)
    assert agent.end is None
    desk.confirms_idle = True
    await line.next("going_idle")
    assert await within(running) is End.ASLEEP


async def test_frames_of_a_newer_contract_keep_nobody_awake(desk: FakeDesk, sleepy: Connect) -> None:
    agent = sleepy()
    running = asyncio.create_task(agent.run(lambda entry: entry.ack()))
    line = await desk.line()
    while not running.done():
        with contextlib.suppress(ConnectionClosed):
            await line.send({"type": "something_new"})
        await asyncio.sleep(0.02)
    assert await running is End.ASLEEP


async def test_an_agent_without_a_line_never_sleeps(desk: FakeDesk, sleepy: Connect) -> None:
    desk.greets = False
    async with sleepy() as agent:
        await desk.line()
        await asyncio.sleep(0.4)
        assert agent.end is None
