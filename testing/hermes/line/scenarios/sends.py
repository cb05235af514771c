"""The agent's sends, queries and interrupts."""

from line.remote import Client
from line.scenarios import scenario
from line.stage import Stage
from props.client import arrive
from props.judge import require, stays, until
from props.platform import CHAT_INFO


async def in_a_chat(stage: Stage) -> tuple[Client, str]:
    """Returns a client, and a chat in which it received a message."""
    client = await stage.connected()
    said = await stage.platform.say(chat="chat-of-ann")
    await arrive(client.took, [said])
    return client, "chat-of-ann"


@scenario(secs=8, chosen=True)
async def send_and_answer(stage: Stage) -> None:
    """A message of the agent reaches the platform once, unchanged, and the agent gets the platform's own message id."""
    client, chat = await in_a_chat(stage)
    result = await client.ask("send", chat=chat, content="good night, Ann", reply_to="m1")

    sends = stage.platform.sends()
    require(len(sends) == 1, f"delivered {len(sends)} times")
    delivered = sends[0]
    require(delivered["bot"] == stage.platform.handle, f"sent as {delivered['bot']}")
    send = {key: delivered["send"].get(key) for key in ("chat_id", "op", "content", "reply_to")}
    want = {"chat_id": chat, "op": "send", "content": "good night, Ann", "reply_to": "m1"}
    require(send == want, f"the platform got {send}")
    receipt = {"success": True, "message_id": delivered["message_id"], "error": None}
    require(result == receipt, f"the agent got {result}")


@scenario(secs=20)
async def send_with_a_lost_answer_is_not_repeated(stage: Stage) -> None:
    """The client's socket dies after the platform got a send and before it responded. The platform gets it once, and
    the next send works."""
    client, chat = await in_a_chat(stage)
    stage.platform.hold_answers()
    line = client.line()
    await client.begin("send", chat=chat, content="only once", reply_to=None)
    await until("the platform has it", lambda: len(stage.platform.sends()) == 1)
    await client.ask("drop")
    await client.online_after(line)
    stage.platform.give_answers()

    # Time for a second call that must not come.
    await stays("one delivery", lambda: len(stage.platform.sends()) == 1, 8)
    result = await client.ask("send", chat=chat, content="the next", reply_to=None)
    require(result["success"] is True, f"the next send got {result}")
    contents = [delivered["send"]["content"] for delivered in stage.platform.sends()]
    require(contents == ["only once", "the next"], f"the platform got {contents}")


@scenario(secs=8)
async def chat_info(stage: Stage) -> None:
    """The client requests the information about a chat and gets the platform's response."""
    client, chat = await in_a_chat(stage)
    info = await client.ask("chat_info", chat=chat)
    require(info == CHAT_INFO, f"the agent got {info}")


@scenario(secs=8)
async def interrupt_echo(stage: Stage) -> None:
    """An interrupt that the client sends comes back to it for the same turn."""
    client, chat = await in_a_chat(stage)
    platform = "discord" if stage.platform.name == "discord" else "relay"
    session_key = f"agent:main:{platform}:dm:{chat}"
    await client.ask("interrupt", session_key=session_key)
    await until("it comes back", lambda: client.of("interrupt") != [])

    keys = [record["session_key"] for record in client.of("interrupt")]
    require(keys == [session_key], f"what came back was {keys}")
    # The interrupt does not name the chat; the client needs it only to end its typing there.
    chats = {record["chat"] for record in client.of("interrupt")}
    require(chats <= {"", chat}, f"it came back for {chats}")
