"""Commands, reactions and files of a later client on Discord and Telegram."""

import re
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

from props.client import IS_0_19
from props.judge import Broken, require, until_so
from props.scenario import BOTH
from turns.both import ANN, BOB, ROOMS, TIM, UMA, Both, said
from turns.model import Plan
from turns.scenarios import scenario
from turns.stage import ANSWER_SECS

BILL = "offers"
GENERAL, COMMANDS, NIGHT = ROOMS.values()
SEEN, DONE = "👀", "✅"
KNOWN_SECS = 30
# Calls of a kind in each channel, and the window in milliseconds. Discord's limit for reactions is as tight.
TIGHT, USUAL = (1, 250), (50, 1000)
UNDELIVERED = "Couldn't deliver the file attachment"
REPORT = "owls seen tonight: 3\n"
# One dot.
PHOTO = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SAVED = re.compile(r"/\S*?relay_media_\w+\.png")


@scenario(secs=60, bill=BILL, platforms=BOTH, stage=Both)
async def reactions_stay_within_the_rates(stage: Both) -> None:
    """Ann and Bob write in one room of Discord, which accepts one reaction in a quarter of a second, and Tim and Uma
    write on Telegram, all at the same time. 0.20.1 puts 👀 on a message that it reads, removes 👀 after the answer and
    puts ✅. On Discord each message ends with ✅ alone. Telegram refuses ✅, which is not among its reactions, and each
    message ends with none. 0.19.0 does not react. Neither platform answers any call with a 429."""
    await stage.discord.take(*TIGHT)
    rooms, messages = {ANN: GENERAL, BOB: GENERAL}, {}
    asked = {person: stage.word() for person in (ANN, BOB, TIM, UMA)}
    for person, room in rooms.items():
        messages[person] = await stage.discord.says(person, room, f"tell me about {asked[person]}")
    for person in (TIM, UMA):
        await stage.telegram.says(person, f"tell me about {asked[person]}")
    for person, room in rooms.items():
        await stage.answered_on_discord(room, asked[person])
    for person in (TIM, UMA):
        await stage.answered_on_telegram(person, asked[person])

    if IS_0_19:
        seen = await stage.discord.reacted(), [await stage.telegram.reactions(person) for person in (TIM, UMA)]
        require(seen == (0, [[], []]), f"0.19.0 reacted: {seen}")
    else:
        for person, room in rooms.items():
            await ends_with(stage, person, room, messages[person])
        for person in (TIM, UMA):
            await ends_without(stage, person)
    await stage.discord.take(*USUAL)
    limited = await stage.discord.limited() + await stage.telegram.limited()
    require(not limited, f"answered with a 429: {limited}")


async def ends_with(stage: Both, person: int, room: int, message: int) -> None:
    """Checks that a message on Discord ends with ✅, and no other reaction of the bot."""

    async def done() -> bool:
        return await stage.discord.reactions(room, message) == [DONE]

    await until_so(f"the message of {person} ends with {DONE} alone", done, ANSWER_SECS)


async def ends_without(stage: Both, person: int) -> None:
    """Checks that a message on Telegram had 👀, lost it again, and was refused ✅. A client that has just started may
    do that twice."""
    wanted = [([SEEN], True), ([], True), ([DONE], False)]

    async def done() -> bool:
        return (await stage.telegram.reactions(person))[-len(wanted) :] == wanted

    await until_so(f"the message of {person} ends without {SEEN}", done, ANSWER_SECS)


@scenario(secs=60, bill=BILL, platforms=BOTH, stage=Both)
async def file_from_the_agent(stage: Both) -> None:
    """The model's answer names a file on the agent's machine, in the form that the client requires. 0.20.1 uploads
    the file to the desk, and Discord gets its bytes and the rest of the answer. 0.19.0 uploads nothing, and sends a
    notice that it cannot deliver the file."""
    report = stage.folder / "report.txt"
    report.write_text(REPORT)
    word = stage.word()
    stage.agent.model.plans[word] = Plan(reply=f"this is what I know of {word}\nMEDIA:{report}")
    await stage.discord.says(ANN, COMMANDS, f"tell me about {word}")
    await stage.answered_on_discord(COMMANDS, word)

    async def came() -> bool:
        if IS_0_19:
            return said(await stage.discord.told(COMMANDS), UNDELIVERED)
        return bool(await stage.discord.files(COMMANDS))

    await until_so("the file, or a word about it, is there", came, ANSWER_SECS)
    files = await stage.discord.files(COMMANDS)
    require(files == ({} if IS_0_19 else {report.name: REPORT.encode()}), f"Discord has {files}")
    uploads = [action for action in asked_for(stage) if action["op"] == "send_media"]
    require(len(uploads) == (0 if IS_0_19 else 1), f"the gateway asked for {uploads}")
    told = await stage.discord.told(COMMANDS)
    require(said(told, UNDELIVERED) == IS_0_19, f"Ann was told {told}")
    require(not said(told, str(report)), "the path was said too")


@scenario(secs=60, bill=BILL, platforms=BOTH, stage=Both)
async def photo_to_the_agent(stage: Both) -> None:
    """Bob sends a photo on Discord. The desk's frame carries its address. 0.20.1 fetches the photo before it calls
    its model, and gives the model the path; that file has the bytes that Bob sent. 0.19.0 fetches nothing, and gives
    its model the address."""
    word = stage.word()
    photo = {"name": "owl.png", "kind": "image/png", "base64": b64encode(PHOTO).decode()}
    await stage.discord.says(BOB, NIGHT, f"tell me about {word}", photo)
    await stage.answered_on_discord(NIGHT, word)
    (event,) = [event for event in events(stage) if word in event["text"]]
    (address,) = event["media_urls"]
    (turn,) = stage.agent.model.turns_of(word)
    saved = SAVED.search(turn.text)
    if IS_0_19:
        require(saved is None and address in turn.text, f"the model was asked: {turn.text}")
        return
    require(saved is not None and address not in turn.text, f"the model was asked: {turn.text}")
    path = Path(saved[0])
    content = path.read_bytes()
    path.unlink()
    require(content == PHOTO, f"the client has {content!r}")


def asked_for(stage: Both) -> list[dict[str, Any]]:
    """Returns the gateway's requests to the desk, in order."""
    frames = [frame for line in stage.agent.tap.lines for frame in line.gateway.of("outbound")]
    return [frame.body["action"] for frame in frames]


def events(stage: Both) -> list[dict[str, Any]]:
    """Returns the events that the desk delivered, in order."""
    frames = [frame for line in stage.agent.tap.lines for frame in line.desk.of("inbound")]
    return [frame.body["event"] for frame in frames]


@scenario(secs=90, bill=BILL, platforms=BOTH, stage=Both)
async def commands_are_registered(stage: Both) -> None:
    """0.20.1 lists its commands in its hello for Discord, and in no other; 0.19.0 lists none. As long as the agent
    has people of a guild and not the guild, the desk registers none there. Once the guild is granted to the agent,
    its next hello registers all of them, as the client describes them, and no others."""
    wanted = manifest()
    require(listed(stage) == wanted, f"the hello lists {listed(stage)}")
    require(await stage.discord.commands() == [], "commands are known in a guild that is not the agent's")
    words = ("grant", "create", *stage.agent.whose, "--bot", stage.discord_bot, "--chat", "*")
    await stage.desk.ask(*words, "--scope", str(stage.discord.guild))
    await stage.agent.killed()
    await stage.agent.start()
    require(listed(stage) == wanted, f"the hello lists {listed(stage)}")

    await are_known(stage, set(by_name(wanted)))
    # All effects of the hello have begun before the answer to a later message.
    word = stage.word()
    await stage.discord.says(ANN, COMMANDS, f"tell me about {word}")
    await stage.answered_on_discord(COMMANDS, word)
    known = by_name(await stage.discord.commands())
    others = {name: known.get(name) for name, one in by_name(wanted).items() if known.get(name) != one}
    require(known == by_name(wanted), f"{len(known)} are known in the guild, and not as they were listed: {others}")
    calls = await stage.discord.registered()
    require(calls == len(wanted), f"{calls} calls for {len(wanted)} commands")


async def are_known(stage: Both, names: set[str]) -> None:
    """Waits until commands of these names are registered in the guild, and names those that are not."""

    async def missing() -> set[str]:
        return names - set(by_name(await stage.discord.commands()))

    async def none_is_missing() -> bool:
        return not await missing()

    try:
        await until_so("the commands are known in the guild", none_is_missing, KNOWN_SECS)
    except Broken as late:
        raise Broken(f"not known in the guild: {sorted(await missing())} of {len(names)}") from late


def manifest() -> list[dict[str, Any]]:
    """Returns the commands of the client under test, as it describes them."""
    if IS_0_19:
        return []
    from gateway.relay.command_manifest import build_relay_command_manifest

    return build_relay_command_manifest()


def listed(stage: Both) -> list[dict[str, Any]]:
    """Returns the commands in the newest hello for Discord. No other hello lists any."""
    hellos = [frame.body for frame in stage.agent.tap.lines[-1].gateway.of("hello")]
    found = {hello["platform"]: hello["command_manifest"] for hello in hellos if hello.get("command_manifest")}
    require(set(found) <= {"discord"}, f"commands are listed for {set(found)}")
    return found.get("discord", [])


def by_name(commands: list[dict[str, Any]]) -> dict[str, tuple[str, list[Any]]]:
    """Returns the described fields of commands, by name."""
    return {one["name"]: (one["description"], one.get("options", [])) for one in commands}
