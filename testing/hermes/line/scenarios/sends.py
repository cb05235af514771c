"""What the agent says, asks and stops."""

from line.judge import arrive, require, stays, until
from line.remote import Client
from line.scenarios import scenario
from line.stage import Stage


async def in_a_chat(stage: Stage) -> tuple[Client, str]:
    """A client, and a chat it was spoken to in."""
    client = await stage.connected()
    said = await stage.platform.say(chat="chat-of-ann")
    await arrive(client.took, [said])
    return client, "chat-of-ann"


@scenario(secs=8)
async def send_and_answer(stage: Stage) -> None:
    """What the agent says reaches the platform once, as it was said, and the agent gets the
    platform's own message id."""
    client, chat = await in_a_chat(stage)
    result = await client.ask("send", chat=chat, content="good night, Ann", reply_to="m1")

    require(len(stage.platform.delivered) == 1, f"delivered {len(stage.platform.delivered)} times")
    delivered = stage.platform.delivered[0]
    require(delivered["bot"] == stage.platform.handle, f"sent as {delivered['bot']}")
    send = {key: delivered["send"].get(key) for key in ("chat_id", "op", "content", "reply_to")}
    want = {"chat_id": chat, "op": "send", "content": "good night, Ann", "reply_to": "m1"}
    require(send == want, f"the platform got {send}")
    want = {"success": True, "message_id": "out-1", "error": None}
    require(result == want, f"the agent got {result}")


@scenario(secs=20)
async def send_with_a_lost_answer_is_not_repeated(stage: Stage) -> None:
    """The client's socket dies after the platform got a send and before it answered. The platform
    gets it once, and the next send works."""
    client, chat = await in_a_chat(stage)
    stage.platform.hold_answers()
    line = client.line()
    await client.begin("send", chat=chat, content="only once", reply_to=None)
    await until("the platform has it", lambda: len(stage.platform.delivered) == 1)
    await client.ask("drop")
    await client.online_after(line)
    stage.platform.give_answers()

    # Time for a second call that must not come.
    await stays("one delivery", lambda: len(stage.platform.delivered) == 1, 8)
    result = await client.ask("send", chat=chat, content="the next", reply_to=None)
    require(result["success"] is True, f"the next send got {result}")
    contents = [delivered["send"]["content"] for delivered in stage.platform.delivered]
    require(contents == ["only once", "the next"], f"the platform got {contents}")


@scenario(secs=8)
async def chat_info(stage: Stage) -> None:
    """The client asks about a chat and is answered."""
    client, chat = await in_a_chat(stage)
    info = await client.ask("chat_info", chat=chat)

    require(info.get("type") == "dm" and bool(info.get("name")), f"the agent got {info}")
    # The client makes up what it was not told, so look at what it was told.
    results = [record["result"] for record in client.frames("outbound_result")]
    require(len(results) == 1, f"{len(results)} answers came")
    told = results[0].get("chat_info") or results[0]
    require({"name", "type"} <= set(told), f"the desk answered {results[0]}")


@scenario(secs=8)
async def interrupt_echo(stage: Stage) -> None:
    """An interrupt the client sends comes back to it for the same turn, with the turn's chat."""
    client, chat = await in_a_chat(stage)
    platform = "discord" if stage.platform.name == "discord" else "relay"
    session_key = f"agent:main:{platform}:dm:{chat}"
    await client.ask("interrupt", session_key=session_key)
    await until("it comes back", lambda: client.of("interrupt") != [])

    echoes = [(r["session_key"], r["chat"]) for r in client.of("interrupt")]
    require(echoes == [(session_key, chat)], f"what came back was {echoes}")
