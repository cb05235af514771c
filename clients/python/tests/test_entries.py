"""Entries and their acks over one line and the next."""

import asyncio
import json

import pytest
from conftest import Connect, until, within
from fakedesk import DESCRIPTOR, FakeDesk, entry, entry_id

from nightdesk import Entry, limits


async def test_every_hello_says_what_the_client_is(desk: FakeDesk, connect: Connect) -> None:
    async with connect(bots=(("discord", "b1"), ("telegram", ""))) as agent:
        line = await desk.line()
        first, second = await line.next("hello"), await line.next("hello")
        descriptors = await within(agent.handshake())

    client = {"name": "nightdesk-python", "version": limits.VERSION}
    assert first == {"type": "hello", "platform": "discord", "botId": "b1", "client": client}
    assert second == {"type": "hello", "platform": "telegram", "botId": "", "client": client}
    assert [descriptor.label for descriptor in descriptors] == ["Web chat", "Web chat"]
    assert "sec-websocket-extensions" not in desk.dials[0]


async def test_an_entry_is_acked_when_the_loop_asks_for_the_next(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        await line.send(entry(1), entry(2))
        loop = agent.entries()

        first = await within(anext(loop))
        await line.has_no("inbound_ack")
        second = await within(anext(loop))
        assert await line.acked() == entry_id(1)
        assert (first.id, second.id) == (entry_id(1), entry_id(2))
        await loop.aclose()
        await line.has_no("inbound_ack")


async def test_an_entry_whose_body_raised_comes_again_on_the_next_line(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        await line.send(entry(1))
        with pytest.raises(ZeroDivisionError):
            async for _ in agent.entries():
                raise ZeroDivisionError
        await line.has_no("inbound_ack")

        await line.close(1011)
        line = await desk.line()
        await line.send(entry(1))
        async for again in agent.entries():
            assert again.id == entry_id(1)
            await again.ack()
            break
        assert await line.acked() == entry_id(1)


async def test_a_handler_acks_on_return_and_not_on_an_exception(desk: FakeDesk, connect: Connect) -> None:
    agent = connect()
    seen: list[str] = []

    async def handle(entry: Entry) -> None:
        seen.append(entry.text)
        if entry.text == "bad":
            raise ValueError("the text of a message")

    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(entry(1, "bad"), entry(2, "good"))
    assert await line.acked() == entry_id(2)
    await line.has_no("inbound_ack")
    assert seen == ["bad", "good"]
    await agent.disconnect()
    await within(running)


async def test_an_entry_that_was_handled_is_only_acked_again(desk: FakeDesk, connect: Connect) -> None:
    turns = 0

    async def handle(_: Entry) -> None:
        nonlocal turns
        turns += 1

    agent = connect()
    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(entry(1))
    assert await line.acked() == entry_id(1)
    # The ack is lost with the line.
    await line.close(1012)
    line = await desk.line()
    await line.send(entry(1))
    assert await line.acked() == entry_id(1)
    assert turns == 1
    await agent.disconnect()
    await within(running)


async def test_the_memory_of_handled_entries_is_bounded(
    desk: FakeDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "HANDLED_KEPT_MAX", 2)
    seen: list[str | None] = []

    async def handle(entry: Entry) -> None:
        seen.append(entry.message_id)

    agent = connect()
    running = asyncio.create_task(agent.run(handle))
    for numbers in ((1, 2), (1, 2, 3), (1,)):
        line = await desk.line()
        await line.send(*(entry(number) for number in numbers))
        for _ in numbers:
            await line.acked()
        await line.close(1012)
    # The third entry made the first one forgotten.
    assert seen == ["m1", "m2", "m3", "m1"]
    await agent.disconnect()
    await within(running)


async def test_a_turn_outlives_its_line(desk: FakeDesk, connect: Connect) -> None:
    finish = asyncio.Event()
    turns = 0

    async def handle(_: Entry) -> None:
        nonlocal turns
        turns += 1
        await finish.wait()

    agent = connect()
    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(entry(1))
    await until(lambda: turns)
    await line.close(1011)
    line = await desk.line()
    await within(agent.handshake())
    finish.set()
    # Only a line that delivered the entry takes its ack.
    await line.has_no("inbound_ack")
    await line.send(entry(1))
    assert await line.acked() == entry_id(1)
    assert turns == 1
    await agent.disconnect()
    await within(running)


async def test_a_turn_that_ends_after_its_entry_came_again_is_acked_then(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        await line.send(entry(1))
        loop = agent.entries()
        taken = await within(anext(loop))
        await line.close(1011)
        line = await desk.line()
        await line.send(entry(1))
        await line.has_no("inbound_ack")
        async with taken:
            pass
        assert await line.acked() == entry_id(1)
        # The entry that came again had its turn.
        await line.send(entry(2))
        assert (await within(anext(loop))).id == entry_id(2)
        await loop.aclose()


async def test_a_line_forgets_the_entries_that_wait(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        await line.send(entry(1), entry(2))
        await within(agent.handshake())
        loop = agent.entries()
        await within(anext(loop))
        await line.close(1011)
        line = await desk.line()
        await within(agent.handshake())
        await line.send(entry(2, "again"))
        await line.send(entry(3))

        assert [(await within(anext(loop))).text for _ in range(2)] == ["again", "hello"]
        await loop.aclose()


async def test_an_ack_before_the_end_of_a_turn_is_the_only_one(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        await line.send(entry(1))
        async for taken in agent.entries():
            await taken.ack()
            assert await line.acked() == entry_id(1)
            await taken.ack()
            break
        await line.has_no("inbound_ack")


async def test_turns_of_one_session_are_in_order_and_of_others_at_once(desk: FakeDesk, connect: Connect) -> None:
    release = asyncio.Event()
    begun: list[str | None] = []

    async def handle(entry: Entry) -> None:
        begun.append(entry.message_id)
        await release.wait()

    agent = connect()
    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(entry(1, chat="a"), entry(2, chat="a"), entry(3, chat="b"))
    await until(lambda: len(begun) == 2)
    await asyncio.sleep(0.05)
    assert begun == ["m1", "m3"]
    release.set()
    assert {await line.acked() for _ in range(3)} == {entry_id(1), entry_id(2), entry_id(3)}
    assert begun == ["m1", "m3", "m2"]
    await agent.disconnect()
    await within(running)


async def test_at_most_twelve_turns_run_at_once(desk: FakeDesk, connect: Connect) -> None:
    release = asyncio.Event()
    begun = 0

    async def handle(_: Entry) -> None:
        nonlocal begun
        begun += 1
        await release.wait()

    agent = connect()
    running = asyncio.create_task(agent.run(handle))
    line = await desk.line()
    await line.send(*(entry(number, chat=f"c{number}") for number in range(14)))
    await until(lambda: begun == 12)
    await asyncio.sleep(0.05)
    assert begun == 12
    release.set()
    await until(lambda: begun == 14)
    await agent.disconnect()
    await within(running)


async def test_many_loops_share_twelve_turns(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        loops = [agent.entries() for _ in range(14)]
        takes = [asyncio.ensure_future(anext(loop)) for loop in loops]
        await line.send(*(entry(number, chat=f"c{number}") for number in range(14)))
        await until(lambda: sum(take.done() for take in takes) == 12)
        await asyncio.sleep(0.05)
        begun = [take for take in takes if take.done()]
        assert len(begun) == 12
        async with begun[0].result():
            pass
        await until(lambda: sum(take.done() for take in takes) == 13)
        for take in takes:
            take.cancel()
        await asyncio.gather(*takes, return_exceptions=True)
        for loop in loops:
            await loop.aclose()


async def test_a_desk_that_ignores_its_window_loses_the_line(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        await line.send(*(entry(number) for number in range(limits.ENTRIES_WAITING_MAX)))
        await line.has_no("inbound_ack")
        assert agent.is_live
        await line.send(entry(100))
        assert await line.close_code() == 1001
        await until(lambda: "window" in (agent.trouble or ""))


async def test_reads_several_frames_in_a_message_and_one_in_several(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        text = "".join(json.dumps(entry(number, f"text {number}")) + "\n" for number in (1, 2))
        await line.socket.send(text + '{"type":"something_new"}\n\nnoise\n[]\n' + text[:20])
        await line.socket.send(json.dumps(entry(3, "ünï"), ensure_ascii=False).encode()[:60])
        texts: list[str] = []
        async for taken in agent.entries():
            texts.append(taken.text)
            if len(texts) == 2:
                break
        assert texts == ["text 1", "text 2"]


async def test_a_desk_that_answers_no_hello_is_left(
    desk: FakeDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "GREET_WAIT", 0.1)
    desk.greets = False
    async with connect() as agent:
        line = await desk.line()
        assert await line.close_code() == 1001
        assert "did not answer every hello" in (agent.trouble or "")
        await desk.line()


async def test_a_new_entry_may_come_before_the_descriptor(desk: FakeDesk, connect: Connect) -> None:
    desk.greets = False
    async with connect() as agent:
        line = await desk.line()
        await line.send(entry(1), {"type": "descriptor", "descriptor": DESCRIPTOR})
        taken = await within(anext(agent.entries()))
        assert taken.id == entry_id(1)
        assert (await within(agent.handshake()))[0].max_message_length == 8000


async def test_an_entry_without_an_id_has_a_turn_and_no_ack(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        untagged = entry(1)
        del untagged["bufferId"]
        await line.send(untagged, entry(2))
        loop = agent.entries()
        assert (await within(anext(loop))).id is None
        assert (await within(anext(loop))).id == entry_id(2)
        await line.has_no("inbound_ack")
        await loop.aclose()


async def test_a_repr_shows_no_text(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        await line.send(entry(1, "a secret thought"))
        taken = await within(anext(agent.entries()))
        assert repr(taken) == f"Entry({entry_id(1)})"
