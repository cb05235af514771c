"""Requests that the desk forwards unchanged. This client never acks them."""

import asyncio
import base64

from line.remote import Client
from line.scenarios import scenario
from line.stage import Stage
from props.client import arrive, command_text
from props.judge import require, until

SETTLED_SECS = 45


@scenario(secs=25, chosen=True)
async def passthrough_runs_once(stage: Stage) -> None:
    """An interaction that the client never acks is settled by the next traffic on the line: an acked message, or a
    send to its chat. Neither comes again, not after a redial and not in a new process. On a platform that the client
    does not know it drops the request; the frame came once."""
    first = await stage.connected()
    followed = await stage.platform.interact("chat-a")
    await until("the request is there", lambda: came(first, followed) == 1)
    await redial_and_hear(stage, first, settle_by_a_message=True)

    answered = await stage.platform.interact("chat-b")
    await until("the request is there", lambda: came(first, answered) == 1)
    result = await first.ask("send", chat="chat-b", content="done", reply_to=None)
    require(result["success"] is True, f"the send got {result}")
    await redial_and_hear(stage, first, settle_by_a_message=False)
    await first.gone()

    second = await stage.connected()
    await hear(stage, second)
    for request in (followed, answered):
        times = came(first, request) + came(second, request)
        require(times == 1, f"{request} came {times} times")
        judge_runs(stage, first, request)


@scenario(secs=58)
async def passthrough_settles_by_itself(stage: Stage) -> None:
    """An interaction without later traffic is settled when the line has lived on for 45 s."""
    client = await stage.connected()
    request = await stage.platform.interact("chat-a")
    await until("the request is there", lambda: came(client, request) == 1)
    # The rule is about this time, and about nothing happening in it.
    await asyncio.sleep(SETTLED_SECS + 3)
    await redial_and_hear(stage, client, settle_by_a_message=False)

    require(came(client, request) == 1, f"it came {came(client, request)} times")
    judge_runs(stage, client, request)


async def redial_and_hear(stage: Stage, client: Client, settle_by_a_message: bool) -> None:
    """Cuts the line; a message on the next one proves that nothing came before it."""
    if settle_by_a_message:
        await hear(stage, client)
    line = client.line()
    await client.ask("drop")
    await client.online_after(line)
    await hear(stage, client)


async def hear(stage: Stage, client: Client) -> None:
    """Sends a message and waits for its ack."""
    acks = len(client.acks())
    said = await stage.platform.say()
    await arrive(client.took, [said])
    await until("it is acked", lambda: len(client.acks()) > acks)


def came(client: Client, request: str) -> int:
    """Returns the number of frames with the request."""
    bodies = [r["forward"]["bodyB64"] or "" for r in client.frames("passthrough_forward")]
    return sum(f'"{request}"' in base64.b64decode(body).decode() for body in bodies)


def judge_runs(stage: Stage, client: Client, request: str) -> None:
    """Checks that the client ran the request once, if it runs such requests at all."""
    runs = [r["text"] for r in client.of("took")].count(command_text(request))
    wanted = 1 if stage.platform.name == "discord" else 0
    require(runs == wanted, f"the client ran {request} {runs} times")
