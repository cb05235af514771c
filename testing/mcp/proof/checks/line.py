"""Tools for an agent without a line of its own. Calls go to both nodes in turn, so one passes them on to the other."""

import asyncio
from typing import Any

from proof.caller import Failed
from proof.stage import Stage

LETTERS = ("the first letter to the owl", "the second letter to the owl")
TAKES_MAX = 10


async def all_checks(stage: Stage) -> None:
    """The owl takes letters to itself, acknowledges them and answers one."""
    for text in LETTERS:
        await stage.owl.call("notify", agent="owl", message=text, dispatch_id=text)
    line, entries = await take(stage)
    # The checks before left letters to the owl.
    texts = [entry["event"]["text"] for entry in entries][-len(LETTERS) :]
    stage.tally.same("inbox_take: the letters, in order", texts, list(LETTERS))
    await send(stage, line, entries[-1])
    line = await stop(stage, line)
    await ack(stage, line, entries)


async def take(stage: Stage) -> tuple[str, list[dict[str, Any]]]:
    """Takes the entries; returns the line and them."""
    line: dict[str, str] = {}
    entries: list[dict[str, Any]] = []
    for _ in range(TAKES_MAX):
        came = await stage.owl.call("inbox_take", wait_seconds=1, **line)
        stage.tally.check("inbox_take: a result", not isinstance(came, Failed), came)
        line = {"line": came["line"]}
        entries += came["frames"]
        if any(entry["event"]["text"] == LETTERS[-1] for entry in entries):
            break
    return line["line"], entries


async def send(stage: Stage, line: str, entry: dict[str, Any]) -> None:
    """Sends to the chat of a letter that expects no reply, and repeats the call."""
    action = {
        "op": "send",
        "chat_id": entry["event"]["source"]["chat_id"],
        "content": "an answer",
    }
    first, again = await stage.owl.twice("send", line=line, request_id="owl-1", action=action)
    stage.tally.check("send: it is a success", bool(first["success"]), first)
    stage.tally.same("send: again is the same", first, again)


async def stop(stage: Stage, line: str) -> str:
    """The owl stops a session of its own, takes the order and answers it. The caller learns the answer. Returns the line."""
    session = {"platform": "discord", "chat_id": "c1"}
    stopping = asyncio.create_task(stage.owl.call("stop", **session))
    order: dict[str, Any] = {}
    for _ in range(TAKES_MAX):
        came = await stage.owl.call("inbox_take", line=line, wait_seconds=1)
        line = came["line"]
        orders = [frame for frame in came["frames"] if frame["type"] == "interrupt_inbound"]
        if orders:
            order = orders[0]
            break
    stage.tally.same("stop: the order names the chat", order.get("chat_id"), "c1")
    answer = {"line": line, "stop_id": order.get("stop_id"), "stopped": True}
    await stage.owl.call("inbox_stopped", **answer)
    again = await stage.owl.call("inbox_stopped", **answer)
    stage.tally.same("inbox_stopped: again is taken and changes nothing", again, {"taken": True})
    stage.tally.same("stop: the answer", await stopping, {"outcome": "stopped", "dropped": 0})
    return line


async def ack(stage: Stage, line: str, entries: list[dict[str, Any]]) -> None:
    """Acknowledges the entries twice. They do not come again, not even on a new line."""
    ids = [entry["bufferId"] for entry in entries]
    first, again = await stage.owl.twice("inbox_ack", line=line, buffer_ids=ids)
    stage.tally.same("inbox_ack: again is the same", first, again)
    nothing = await stage.owl.call("inbox_take", line=line, wait_seconds=1)
    stage.tally.same("inbox_take: no entry is left", nothing["frames"], [])
    anew = await stage.owl.call("inbox_take", wait_seconds=1)
    stage.tally.same("inbox_take: none comes again", anew["frames"], [])
    gone = await stage.owl.call("inbox_take", line=nothing["line"], wait_seconds=1)
    stage.tally.check("inbox_take: the older line is gone", isinstance(gone, Failed), gone)
