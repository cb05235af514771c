"""One agent on Discord and Telegram at once: every answer goes to the chat of its question."""

import time

from props.judge import require, until, until_so
from props.scenario import BOTH
from turns.both import ANN, BOB, ROOMS, TIM, UMA, Both, said
from turns.scenarios import scenario

BILL = "both"
GENERAL, COMMANDS, NIGHT = ROOMS.values()
# Discord's limit for the first response to a command, and its type for "thinking…".
FIRST_ANSWER_SECS = 3
DEFERRED = 5
CALL_SECS = 20
NO_HOME = "No home channel is set"


@scenario(secs=60, bill=BILL, platforms=BOTH, stage=Both, chosen=True)
async def people_on_two_platforms(stage: Both) -> None:
    """Ann and Bob write on Discord, Tim and Uma on Telegram, all to one agent, at the same time. Each gets an answer
    from the platform's own bot, in the chat of the question and in no other, once."""
    asked = {ANN: stage.word(), BOB: stage.word(), TIM: stage.word(), UMA: stage.word()}
    rooms = {ANN: GENERAL, BOB: NIGHT}
    for person, room in rooms.items():
        await stage.discord.says(person, room, f"tell me about {asked[person]}")
    for person in (TIM, UMA):
        await stage.telegram.says(person, f"tell me about {asked[person]}")
    for person, room in rooms.items():
        await stage.answered_on_discord(room, asked[person])
    for person in (TIM, UMA):
        await stage.answered_on_telegram(person, asked[person])

    told = {room: await stage.discord.told(room) for room in rooms.values()}
    told |= {person: await stage.telegram.told(person) for person in (TIM, UMA)}
    for person, word in asked.items():
        where = [place for place, texts in told.items() if said(texts, word)]
        require(where == [rooms.get(person, person)], f"{word} was answered at {where}")
        turns = len(stage.agent.model.turns_of(word))
        require(turns == 1, f"the model was asked about {word} {turns} times")
    # A later client also reports, once in every chat, that no home channel is set.
    answers = sum(NO_HOME not in text for texts in told.values() for text in texts)
    require(answers == len(asked), f"{answers} answers to {len(asked)} questions")


@scenario(secs=60, bill=BILL, platforms=BOTH, stage=Both)
async def command_is_answered_by_what_was_lent(stage: Both) -> None:
    """Ann gives a command. Discord posts it, signed, and gets a response within its three seconds. The model gets the
    question, and the gateway answers by `follow_up`: Discord gets it with the token of that command. Neither the
    gateway nor any log ever contains that token, or a bot's."""
    word = stage.word()
    began_at = time.monotonic()
    command = await stage.discord.command(ANN, COMMANDS, "ask", f"tell me about {word}")

    async def deferred() -> bool:
        return (await stage.discord.interaction(command))["answered"] == DEFERRED

    await until_so("the command is taken", deferred, FIRST_ANSWER_SECS)
    took_secs = time.monotonic() - began_at
    require(took_secs < FIRST_ANSWER_SECS, f"Discord waited {took_secs:.1f} s")
    await stage.answered_on_discord(COMMANDS, word)
    await followed_up(stage, command, word)
    token = (await stage.discord.interaction(command))["token"]
    logs = stage.logs()
    require(word in logs, "nothing of it was written down")
    for secret in (token, stage.discord.token, stage.telegram.token):
        require(secret not in logs, f"{secret} was written down")


@scenario(secs=60, bill=BILL, platforms=BOTH, stage=Both)
async def command_in_a_thread(stage: Both) -> None:
    """Ann opens a thread and gives a command in it. The gateway answers by `follow_up`, and names the session that it
    has for the thread. With every client Discord gets that answer in the thread, with the token of that command."""
    thread = await stage.discord.open_thread(ANN, COMMANDS, "about owls")
    word = stage.word()
    command = await stage.discord.command(ANN, thread, "ask", f"tell me about {word}")
    await stage.answered_on_discord(thread, word)
    await followed_up(stage, command, word)
    require(not said(await stage.discord.told(COMMANDS), word), "it was answered beside the thread")
    turns = len(stage.agent.model.turns_of(word))
    require(turns == 1, f"the model was asked {turns} times")


async def followed_up(stage: Both, command: str, word: str) -> None:
    """The gateway answers a command about a word by `follow_up`, and Discord gets that with the command's token."""

    async def answered() -> bool:
        interaction = await stage.discord.interaction(command)
        return any(word in str(one) for one in interaction["said"])

    await until_so("the command is answered under its token", answered, CALL_SECS)
    frames = [frame for line in stage.agent.tap.lines for frame in line.gateway.of("outbound")]
    actions = [frame.body["action"] for frame in frames]
    asked = [action for action in actions if action["op"] == "follow_up" and word in action["content"]]
    require(len(asked) == 1, f"the gateway asked {len(asked)} times for a `follow_up` about {word}")


@scenario(secs=60, bill=BILL, platforms=BOTH, stage=Both)
async def asleep_on_two_platforms(stage: Both) -> None:
    """The gateway is stopped. Bob writes on Discord, Uma on Telegram: each sees the bot type, and the desk wakes the
    agent. The messages wait, and are answered in their chats once the agent is up."""
    line = stage.agent.tap.lines[-1]
    stage.agent.hermes.ask_to_end()
    await stage.agent.hermes.ended()
    await until("the desk has noticed", lambda: line.is_over)
    await stage.desk.knows_the_line_is_over()
    calls = len(stage.waker.calls)
    typed = await stage.discord.typed(NIGHT), await stage.telegram.typed(UMA)
    words = stage.word(), stage.word()
    await stage.discord.says(BOB, NIGHT, f"tell me about {words[0]}")
    await stage.telegram.says(UMA, f"tell me about {words[1]}")

    async def types() -> bool:
        seen = await stage.discord.typed(NIGHT), await stage.telegram.typed(UMA)
        return seen[0] > typed[0] and seen[1] > typed[1]

    await until_so("the bots type", types)
    await until("the agent is called", lambda: len(stage.waker.calls) > calls)
    require(set(stage.waker.calls) == {"/owl"}, f"{stage.waker.calls} were called")
    require(not said(await stage.discord.told(NIGHT), words[0]), "answered by nobody")
    await stage.agent.start()
    await stage.answered_on_discord(NIGHT, words[0])
    await stage.answered_on_telegram(UMA, words[1])
    turns = [len(stage.agent.model.turns_of(word)) for word in words]
    require(turns == [1, 1], f"the model was asked {turns} times")
    crossed = said(await stage.telegram.told(UMA), words[0])
    crossed |= said(await stage.discord.told(NIGHT), words[1])
    require(not crossed, "an answer went to the other platform")
