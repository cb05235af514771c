"""Sends: each at most once, and each with its outcome."""

import asyncio
from typing import Any

import pytest
from conftest import Connect, until, within
from fakedesk import FakeDesk, entry

from nightdesk import Place, Sender, limits
from nightdesk.errors import (
    BusyError,
    FailedError,
    NoLineError,
    OverError,
    RefusedError,
    TooLongError,
    UnknownOutcomeError,
)

CHAT = Place("c1", "discord")


async def test_a_send_returns_its_receipt(desk: FakeDesk, connect: Connect) -> None:
    desk.result = lambda _: {"success": True, "message_id": "m9", "thread_id": "t9", "note": "late"}
    async with connect(bots=(("discord", "b1"),)) as agent:
        receipt = await within(agent.send(CHAT, "hi", reply_to="m1"))
        frame = await (await desk.line()).next("outbound")

    assert (receipt.message_id, receipt.thread_id, receipt.note) == ("m9", "t9", "late")
    assert frame["platform"] == "discord"
    assert frame["botId"] == "b1"
    assert frame["action"] == {"op": "send", "chat_id": "c1", "content": "hi", "reply_to": "m1", "metadata": {}}


async def test_a_reply_goes_where_the_message_was_written(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        line = await desk.line()
        await line.send(entry(7))
        async for taken in agent.entries():
            await taken.reply("hi")
            break
        frame = await line.next("outbound")

    assert frame["action"]["reply_to"] == "m7"
    assert frame["action"]["metadata"] == {"user_id": "u1"}
    assert "botId" not in frame


OPS: list[tuple[Any, dict[str, Any]]] = [
    (lambda a: a.edit(CHAT, "m1", "new"), {"op": "edit", "message_id": "m1", "content": "new"}),
    (lambda a: a.delete(CHAT, "m1"), {"op": "delete", "message_id": "m1"}),
    (lambda a: a.typing(CHAT), {"op": "typing"}),
    (lambda a: a.typing(CHAT, ""), {"op": "typing", "content": ""}),
    (lambda a: a.draft(CHAT, 3, "so far"), {"op": "draft", "draft_id": 3, "content": "so far", "final": False}),
    (
        lambda a: a.send_media(CHAT, "image", "https://desk/relay/media/0", caption="a cat"),
        {"op": "send_media", "media_kind": "image", "source_url": "https://desk/relay/media/0", "content": "a cat"},
    ),
    (
        lambda a: a.prompt(CHAT, "Sure?", {"y": "Yes", "n": "No"}, prompt_id="p1"),
        {
            "op": "prompt",
            "content": "Sure?",
            "prompt_id": "p1",
            "prompt_kind": "choice",
            "options": [{"id": "y", "label": "Yes"}, {"id": "n", "label": "No"}],
        },
    ),
    (lambda a: a.react(CHAT, "m1", "👍"), {"op": "react", "message_id": "m1", "emoji": "👍", "remove": False}),
    (lambda a: a.act("thread_create", CHAT, thread_name="New"), {"op": "thread_create", "thread_name": "New"}),
    (lambda a: a.get_chat_info(CHAT), {"op": "get_chat_info"}),
    (lambda a: a.act("task_card", CHAT, card_id="k1", chunks=[1]), {"op": "task_card", "card_id": "k1", "chunks": [1]}),
]


@pytest.mark.parametrize(("call", "want"), OPS)
async def test_every_op_has_its_fields(desk: FakeDesk, connect: Connect, call: Any, want: dict[str, Any]) -> None:
    async with connect() as agent:
        await within(call(agent))
        frame = await (await desk.line()).next("outbound")

    assert frame["action"] == {"chat_id": "c1", "metadata": {}, **want}


async def test_a_follow_up_names_a_session_and_no_chat(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        await within(agent.follow_up("agent:main:discord:dm:c1", "done"))
        frame = await (await desk.line()).next("outbound")

    kind = "discord.interaction_token"
    action = {"op": "follow_up", "session_key": "agent:main:discord:dm:c1", "kind": kind, "content": "done"}
    assert frame["action"] == action | {"metadata": {}}
    assert frame["platform"] == "discord"


@pytest.mark.parametrize(
    ("result", "error"),
    [
        ({"success": False, "ambiguous": True, "error": "timed out"}, UnknownOutcomeError),
        ({"success": False, "code": "unrecorded", "error": "network error"}, UnknownOutcomeError),
        ({"success": False, "code": "egress_declined", "error": "never addressed there"}, RefusedError),
        ({"success": False, "error": "message refused by the platform: 400"}, FailedError),
        ({"error": None}, FailedError),
    ],
)
async def test_a_result_that_is_no_success_is_an_error(
    desk: FakeDesk, connect: Connect, result: dict[str, Any], error: type[Exception]
) -> None:
    desk.result = lambda _: result
    async with connect() as agent:
        with pytest.raises(error) as raised:
            await within(agent.send(CHAT, "hi"))
    if error is not UnknownOutcomeError:
        assert str(raised.value) == (result["error"] or "the desk gave no reason")


async def test_a_send_whose_line_ends_has_an_unknown_outcome(desk: FakeDesk, connect: Connect) -> None:
    desk.result = lambda _: None
    async with connect() as agent:
        sending = asyncio.create_task(agent.send(CHAT, "hi"))
        line = await desk.line()
        frame = await line.next("outbound")
        await line.close(1011)
        with pytest.raises(UnknownOutcomeError) as raised:
            await within(sending)
        assert raised.value.request_id == frame["requestId"]

        # The SDK repeats nothing by itself. The caller may, with the same id.
        line = await desk.line()
        await line.has_no("outbound")
        desk.result = lambda _: {"success": True}
        await within(agent.act("send", CHAT, content="hi", request_id=raised.value.request_id))
        assert (await line.next("outbound"))["requestId"] == frame["requestId"]


async def test_a_send_without_a_result_has_an_unknown_outcome(
    desk: FakeDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "RESULT_WAIT", 0.1)
    desk.result = lambda _: None
    async with connect() as agent:
        with pytest.raises(UnknownOutcomeError):
            await within(agent.send(CHAT, "hi"))
        monkeypatch.setattr(limits, "RESULT_WAIT", 5.0)
        line = await desk.line()
        frame = await line.next("outbound")
        # A late result changes nothing.
        await line.send({"type": "outbound_result", "requestId": frame["requestId"], "result": {"success": True}})
        desk.result = lambda _: {"success": True, "message_id": "m2"}
        assert (await within(agent.send(CHAT, "again"))).message_id == "m2"


async def test_a_send_waits_for_a_line_but_not_for_ever(
    desk: FakeDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.refusals = [(503, {})] * 2
    async with connect() as agent:
        assert (await within(agent.send(CHAT, "hi"))).message_id == "sent-1"
        monkeypatch.setattr(limits, "LINE_WAIT", 0.05)
        desk.refusals = [(503, {"Retry-After": "9"})] * 9
        await (await desk.line()).close(1011)
        await until(lambda: not agent.is_live)
        with pytest.raises(NoLineError):
            await within(agent.send(CHAT, "hi"))


async def test_sends_in_flight_and_waiting_are_bounded(
    desk: FakeDesk, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "LINE_WAIT", 1.0)
    desk.result = lambda _: None
    async with connect() as agent:
        line = await desk.line()
        await within(agent.handshake())
        sends = [asyncio.create_task(agent.send(CHAT, f"{number}")) for number in range(128)]
        first = [(await line.next("outbound"))["action"]["content"] for _ in range(64)]
        assert first == [f"{number}" for number in range(64)]
        with pytest.raises(BusyError):
            await within(agent.send(CHAT, "one too many"))
        await line.has_no("outbound")

        results = await asyncio.gather(*sends[64:], return_exceptions=True)
        assert all(isinstance(result, BusyError) for result in results)
        await agent.disconnect()
        ended = await asyncio.gather(*sends[:64], return_exceptions=True)
        assert all(isinstance(result, UnknownOutcomeError) for result in ended)


async def test_a_result_makes_room_for_the_next_send(desk: FakeDesk, connect: Connect) -> None:
    desk.result = lambda _: None
    async with connect() as agent:
        line = await desk.line()
        await within(agent.handshake())
        sends = [asyncio.create_task(agent.send(CHAT, f"{number}")) for number in range(65)]
        frames = [await line.next("outbound") for _ in range(64)]
        await line.send({"type": "outbound_result", "requestId": frames[0]["requestId"], "result": {"success": True}})
        assert (await line.next("outbound"))["action"]["content"] == "64"
        assert len({frame["requestId"] for frame in frames}) == 64
        for send in sends:
            send.cancel()
        await asyncio.gather(*sends, return_exceptions=True)


async def test_a_send_that_was_cancelled_while_it_waited_is_not_sent(desk: FakeDesk, connect: Connect) -> None:
    desk.greets = False
    async with connect() as agent:
        line = await desk.line()
        sending = asyncio.create_task(agent.send(CHAT, "hi"))
        await asyncio.sleep(0.05)
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)
        await line.send({"type": "descriptor", "descriptor": {}})
        await within(agent.handshake())
        await within(agent.send(CHAT, "second"))
        assert (await line.next("outbound"))["action"]["content"] == "second"


async def test_a_frame_that_is_too_long_is_not_sent(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        with pytest.raises(TooLongError):
            await within(agent.send(CHAT, "x" * limits.FRAME_BYTES_MAX))
        room = limits.FRAME_BYTES_MAX - 500
        assert (await within(agent.send(CHAT, "x" * room))).message_id == "sent-1"
        await (await desk.line()).next("outbound")


async def test_the_same_request_is_not_in_flight_twice(desk: FakeDesk, connect: Connect) -> None:
    desk.result = lambda _: None
    async with connect() as agent:
        sending = asyncio.create_task(agent.act("send", CHAT, content="hi", request_id="r1"))
        await (await desk.line()).next("outbound")
        with pytest.raises(BusyError, match="same request"):
            await within(agent.act("send", CHAT, content="hi", request_id="r1"))
        sending.cancel()
        await asyncio.gather(sending, return_exceptions=True)


async def test_request_ids_differ_between_agents(desk: FakeDesk, connect: Connect) -> None:
    ids = set()
    for _ in range(2):
        async with connect() as agent:
            await within(agent.send(CHAT, "hi"))
            ids.add((await (await desk.line()).next("outbound"))["requestId"])
    assert len(ids) == 2


async def test_nothing_is_sent_when_the_agent_is_over(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        await desk.line()
        desk.greets = False
    with pytest.raises(OverError):
        await agent.send(CHAT, "hi")


async def test_text_that_is_no_utf_8_is_sent_as_text(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        await within(agent.send(CHAT, "half a pair: \ud83d"))
        assert (await (await desk.line()).next("outbound"))["action"]["content"] == "half a pair: ?"


async def test_an_interrupt_has_no_result(desk: FakeDesk, connect: Connect) -> None:
    async with connect() as agent:
        await within(agent.interrupt("agent:main:discord:dm:c1", "enough"))
        frame = await (await desk.line()).next("interrupt")
    assert frame == {"type": "interrupt", "session_key": "agent:main:discord:dm:c1", "reason": "enough"}


def test_a_sender_is_what_a_handler_may_be_given() -> None:
    assert {"act", "send", "edit", "delete", "typing", "draft", "prompt"} <= set(dir(Sender))
