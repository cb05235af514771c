"""What the gateway does by itself when it starts: it provisions itself, and says what concerns it."""

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
# Several times what the desk takes to learn of a new policy.
TOLD_SECS = 10
LOBBY = "lobby"
AT_BOOT = "gw-at-boot"


async def says(stage: Stage, chat: str, person: dict[str, Any], **more: Any) -> str:
    """Somebody asks about a word in a room; the word."""
    word = stage.model.word()
    source = {"chat_type": "group", "scope_id": GUILD, **person}
    letter = stage.platform.write(f"tell me about {word}", chat, source, **more)
    await stage.platform.post_until_taken(*letter)
    return word


async def is_heard(stage: Stage, chat: str, person: dict[str, Any]) -> str:
    """Somebody asks about a word, and the agent is told; the word. A node may go by the policy before for a second and
    leave out what is written meanwhile, so the person asks once more."""
    with suppress(Broken):
        return await is_told(stage, await says(stage, chat, person))
    return await is_told(stage, await says(stage, chat, person))


async def is_told(stage: Stage, word: str) -> str:
    """Waits until the agent is told of a word."""
    await until(f"the agent is told of {word}", lambda: stage.agent.was_told(word), TOLD_SECS)
    return word


@scenario(secs=60, bill=BILL, platforms=DISCORD, chosen=True)
async def relevance_without_a_policy(stage: Stage) -> None:
    """The client's configuration does not say whether it wants to be mentioned. 0.19.0 gets everything that people write
    where it may be reached. A later client gets what mentions it, and everything in a thread it was mentioned in; once
    its configuration says `require_mention: false`, it declares that, and gets everything."""
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
    """The client is told by its own configuration that it wants to be mentioned, and where not. It
    declares that when it starts, and the desk keeps to it: what does not concern it is never handed
    over, nor what other bots say, and what does is answered. 0.19.0 was answered everywhere before."""
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
        # Its own people need not mention it.
        "own-room": await says(stage, "own-room", {"user_id": "u1"}),
    }
    for chat, word in allowed.items():
        await stage.is_answered(chat, word)
        await stage.just_once(chat, word)
    # The allowed came later and is there, so the forbidden is not on its way.
    heard = [word for word in forbidden if stage.agent.was_told(word)]
    require(not heard, f"the agent heard of {heard}, which does not concern it")


@scenario(secs=60, bill=BILL, platforms=DISCORD)
async def provisioned_at_boot_for_two_platforms(stage: Stage) -> None:
    """The gateway starts with nothing but a session of the desk and two platforms. It provisions
    itself for both, dials in, and answers on each of them; what it was given is in no file of its.
    So it does at the next start. When the session was ended, a start gets it nothing."""
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
    """The gateway starts and dials, and is let in no time."""
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
