"""The gateway's own actions at its start: it provisions itself, and declares its policy."""

import json
from contextlib import suppress
from typing import Any

from props.client import IS_0_19
from props.judge import Broken, require, until
from turns.agent import BOOT_SECS, fronting
from turns.scenarios import scenario
from turns.stage import ANSWER_SECS, Stage

BILL = "boot"
DISCORD = ("discord",)
GUILD, FREE_ROOM = "guild-1", "free-room"
# As a person writes it into the client's own configuration.
WANTS_ADDRESS = f"""
discord:
  require_mention: true
  free_response_channels: ["{FREE_ROOM}"]
"""
WANTS_EVERYTHING = """
discord:
  require_mention: false
"""
# Several times the time in which every node learns of a new policy.
TOLD_SECS = 10
LOBBY = "lobby"
AT_BOOT = "gw-at-boot"


async def says(stage: Stage, chat: str, person: dict[str, Any], **more: Any) -> str:
    """A person asks about a word in a room; returns the word."""
    word = stage.model.word()
    source = {"chat_type": "group", "scope_id": GUILD, **person}
    letter = stage.platform.write(f"tell me about {word}", chat, source, **more)
    await stage.platform.post_until_taken(*letter)
    return word


async def is_heard(stage: Stage, chat: str, person: dict[str, Any]) -> str:
    """A person asks about a word, and the agent gets it; returns the word. A node may use the previous policy for a
    second and drop messages meanwhile, so the person asks once more."""
    with suppress(Broken):
        return await is_told(stage, await says(stage, chat, person))
    return await is_told(stage, await says(stage, chat, person))


async def is_told(stage: Stage, word: str) -> str:
    """Waits until the agent gets a message with a word."""
    await until(f"the agent is told of {word}", lambda: stage.agent.was_told(word), TOLD_SECS)
    return word


@scenario(secs=60, bill=BILL, platforms=DISCORD, chosen=True)
async def relevance_without_a_policy(stage: Stage) -> None:
    """The client's configuration does not say if it wants to be mentioned. 0.19.0 gets every message where people can
    reach it. A later client gets messages that mention it, and everything in a thread in which it was mentioned; once
    its configuration has `require_mention: false`, it declares that, and gets everything."""
    visitor = {"user_id": "v1", "user_name": "Vic"}
    thread = {**visitor, "chat_type": "thread", "thread_id": "th-7", "parent_chat_id": "square"}
    other = {**thread, "thread_id": "th-8"}
    unmentioned = {
        "square": await says(stage, "square", visitor),
        "th-8": await says(stage, "th-8", other),
    }
    for chat, person in (("square", visitor), ("th-7", thread)):
        word = await says(stage, chat, person, mentions_bot=True)
        await stage.is_answered(chat, word)
        await stage.line_rests()
    await stage.is_answered("th-7", await says(stage, "th-7", thread))
    for chat, word in unmentioned.items():
        if IS_0_19:
            await stage.is_answered(chat, word)
        require(stage.agent.was_told(word) == IS_0_19, f"of {word} in {chat} the agent was told otherwise")

    await stage.hermes.killed()
    stage.hermes.configure(WANTS_EVERYTHING)
    await stage.start_hermes()
    await stage.line_rests()
    await stage.is_answered("square", await is_heard(stage, "square", visitor))


@scenario(secs=60, bill=BILL, platforms=DISCORD, chosen=True)
async def policy_declared_at_boot(stage: Stage) -> None:
    """The client's configuration requires a mention, with exceptions. The client declares that when it starts, and
    the desk obeys: it never delivers messages that do not concern the agent, nor those of other bots, and the others
    are answered. 0.19.0 was answered everywhere before."""
    visitor = {"user_id": "v1", "user_name": "Vic"}
    program = {"user_id": "v2", "user_name": "Robot", "is_bot": True}
    if IS_0_19:
        await stage.is_answered("hall", await says(stage, "hall", visitor))
    await stage.hermes.killed()
    stage.hermes.configure(WANTS_ADDRESS)
    await stage.start_hermes()

    await stage.line_rests()
    forbidden = [
        await says(stage, "hall", visitor),
        await says(stage, FREE_ROOM, program, mentions_bot=True),
    ]
    allowed = {
        "hall": await says(stage, "hall", visitor, mentions_bot=True),
        FREE_ROOM: await says(stage, FREE_ROOM, visitor),
        # Linked people need not mention it.
        "own-room": await says(stage, "own-room", {"user_id": "u1"}),
    }
    for chat, word in allowed.items():
        await stage.is_answered(chat, word)
        await stage.just_once(chat, word)
    # The allowed message came later and is there, so the forbidden one is not in flight.
    heard = [word for word in forbidden if stage.agent.was_told(word)]
    require(not heard, f"the agent heard of {heard}, which does not concern it")


@scenario(secs=60, bill=BILL, platforms=DISCORD)
async def provisioned_at_boot_for_two_platforms(stage: Stage) -> None:
    """The gateway starts with only a session of the desk and two platforms. It provisions itself for both, dials in,
    and answers on each of them; its secret is in none of its files. The next start does the same. After the session
    has ended, a start gets nothing."""
    await stage.hermes.killed()
    stage.hermes.forget()
    stage.page.url = await stage.desk.register_page(LOBBY)
    await stage.desk.let_anyone_in()
    begun = await stage.desk.ask("issuer", "session", *stage.agent.whose)
    (stage.hermes.home / "auth.json").write_text(json.dumps(begun["auth"]))
    stage.hermes.settings |= fronting({"discord": stage.platform.handle, "webchat": LOBBY})
    stage.hermes.settings |= {
        "GATEWAY_RELAY_URL": stage.agent.url,
        "GATEWAY_RELAY_ID": AT_BOOT,
        "HERMES_PORTAL_BASE_URL": begun["portal_url"],
    }
    for start in ("first", "second"):
        await stage.start_hermes()
        hellos = [frame.body["platform"] for frame in stage.tap.lines[-1].gateway.of("hello")]
        require(hellos == ["discord", "webchat"], f"it is there for {hellos}")
        for front in (stage.front, stage.page):
            chat, word = f"{start}-of-two", stage.model.word()
            await stage.line_rests()
            await front.write(chat, f"tell me about {word}")
            await until(
                f"{chat} is answered about {word}",
                lambda: any(word in said for said in front.answers(chat)),
                ANSWER_SECS,
            )
        await stage.all_acked()
        await stage.hermes.killed()

    require(not (stage.hermes.home / ".env").exists(), "its secret was written down")
    words = ["gateway", "show", "--tenant", "night", "--name", AT_BOOT]
    fronts = await stage.desk.ask(*words)
    shown = [(front["platform"], front["bot"]) for front in fronts]
    wanted = [("discord", stage.platform.handle), ("webchat", LOBBY)]
    require(sorted(shown) == wanted, f"`gateway show` shows {shown}")

    await stage.desk.ask("issuer", "end", "--tenant", "night", begun["session"])
    await is_not_let_in(stage)


async def is_not_let_in(stage: Stage) -> None:
    """The gateway starts and dials, and never gets a line."""
    before = len(stage.tap.lines)
    word = stage.model.word()
    await stage.asks("after-the-session", word)
    await stage.hermes.start()
    refused = stage.tap.lines
    await until(
        "the gateway has dialled, and that is over",
        lambda: len(refused) > before and refused[-1].is_over,
        BOOT_SECS,
    )
    require(refused[-1].desk.frames == [], "it is on a line without a session")
    require(not stage.agent.was_told(word), "it was handed a message without a session")
