"""The desk or its store dies in the middle of a turn."""

import asyncio

from props.judge import require, until
from turns.model import WORD, Plan
from turns.scenarios import scenario
from turns.stage import Stage

AT_ONCE = 8
UNAVAILABLE = 503


@scenario(secs=60, chosen=True)
async def desk_killed_in_the_middle_of_a_turn(stage: Stage) -> None:
    """The desk is killed while the model thinks, right when it has acknowledged a message to the platform. After its
    restart the gateway dials by itself, the model gets no acked message again, no acknowledged message is lost, and
    the answer arrives, once."""
    thinking = asyncio.Event()
    word = stage.model.word(Plan(think_until=thinking))
    await stage.asks("killed", word)
    await stage.model_thinks(word)
    await stage.all_acked()

    others = {f"killed-{number}": stage.model.word() for number in range(AT_ONCE)}
    lines = len(stage.tap.lines)
    writing = [asyncio.create_task(stage.asks(chat, other)) for chat, other in others.items()]
    try:
        await asyncio.wait(writing, return_when=asyncio.FIRST_COMPLETED)
        await stage.desk.killed()
        await stage.desk.start()
        await stage.online_after(lines)
        # The client permanently loses messages that it sends while it has no line.
        thinking.set()
        await asyncio.gather(*writing)
    finally:
        for task in writing:
            task.cancel()
    # The client may drop a message that it acked in the last moment with its line: the desk no longer owns it.
    acked = WORD.findall(" ".join(line.acked_texts() for line in stage.tap.lines[:lines]))
    kept = {chat: other for chat, other in others.items() if other not in acked}
    for chat, other in {"killed": word, **kept}.items():
        await stage.is_answered(chat, other)
    await stage.just_once("killed", word)
    # An ack of the last moment may not have been stored; only such entries are delivered again.
    in_flight = WORD.findall(" ".join(line.texts() for line in stage.tap.lines[:lines]))
    for other in others.values():
        turns, most = len(stage.model.turns_of(other)), 1 + in_flight.count(other)
        require(turns <= most, f"the model was asked about {other} {turns} times")
    await stage.talk("killed")


@scenario(secs=60)
async def node_of_the_line_killed_in_the_middle_of_a_turn(stage: Stage) -> None:
    """The node that holds the line, and has sent all messages so far, is killed while the model thinks. The gateway
    dials the other node, which takes over the bot; the answer arrives, once, and so do the messages that came
    meanwhile."""
    await stage.talk("node")
    thinking = asyncio.Event()
    word, other = stage.model.word(Plan(think_until=thinking)), stage.model.word()
    await stage.asks("node", word)
    await stage.model_thinks(word)
    await stage.all_acked()

    lines = len(stage.tap.lines)
    await stage.desk.back.killed()
    stage.tap.lead_to(stage.desk.front.port)
    await stage.asks("node-too", other)
    await stage.online_after(lines)
    thinking.set()
    await stage.is_answered("node", word)
    await stage.is_answered("node-too", other)
    await stage.just_once("node", word)
    await stage.just_once("node-too", other)


@scenario(secs=60, own_cluster=True)
async def postgres_restart_in_the_middle(stage: Stage) -> None:
    """PostgreSQL crashes and returns while the model thinks. Messages that come meanwhile are accepted when it is
    back; the model gets each once, and each is answered once."""
    thinking = asyncio.Event()
    first, second = stage.model.word(Plan(think_until=thinking)), stage.model.word()
    await stage.asks("store", first)
    await stage.model_thinks(first)
    await stage.all_acked()

    await stage.own_cluster.stop()
    writing = asyncio.create_task(stage.asks("store-too", second))
    try:
        statuses = stage.front.statuses
        await until("the front is told to come again", lambda: statuses()[-1] == UNAVAILABLE)
        await stage.own_cluster.start()
        await writing
    finally:
        writing.cancel()
    thinking.set()
    await stage.is_answered("store", first)
    await stage.is_answered("store-too", second)
    await stage.just_once("store", first)
    await stage.just_once("store-too", second)
    await stage.talk("store")
