"""Messages that come while the model thinks."""

import asyncio

from props.client import IS_0_19
from props.judge import require, stays, until
from turns.model import Plan
from turns.scenarios import scenario
from turns.stage import ANSWER_SECS, Stage

BILL = "busy"
STOP_SECS = 15
ALLOW = "Allow Once"


@scenario(secs=60, bill=BILL, chosen=True)
async def message_during_a_long_turn(stage: Stage) -> None:
    """A visitor writes again while the model thinks about the first message. 0.19.0 as `discord` answers both, one
    after the other. As `relay`, and every later client everywhere, it abandons the first turn, reports this, and
    answers the second. The model gets neither twice."""
    thinking = asyncio.Event()
    first, second = stage.model.word(Plan(think_until=thinking)), stage.model.word()
    await stage.asks("busy", first)
    await stage.model_thinks(first)
    await stage.asks("busy", second)
    if stage.is_discord and IS_0_19:
        await stage.all_acked()
        require(not stage.model.turns_of(second), "the second turn began during the first")
        thinking.set()
        await stage.is_answered("busy", second)
        await stage.just_once("busy", first, second)
    else:
        # While the model still thinks about the first.
        await stage.is_answered("busy", second)
        await stage.just_once("busy", second)
        await never_answered(stage, "busy", first, thinking)


@scenario(secs=60, bill=BILL)
async def stop_in_the_way_that_works(stage: Stage) -> None:
    """A visitor writes `/stop` while the model thinks. They read that it stopped; their next message is answered
    although the model still thinks, and the result of the stopped turn is never sent."""
    thinking = asyncio.Event()
    word = stage.model.word(Plan(think_until=thinking))
    await stage.asks("stop", word)
    await stage.model_thinks(word)
    said = len(stage.front.answers("stop"))
    await stage.front.write("stop", "/stop")
    await until(
        "the visitor is told that it stopped",
        lambda: len(stage.front.answers("stop")) > said,
        STOP_SECS,
    )
    await stage.talk("stop")
    await never_answered(stage, "stop", word, thinking)


async def never_answered(stage: Stage, chat: str, word: str, thinking: asyncio.Event) -> None:
    """The model finishes an abandoned turn. No visitor gets the result."""
    thinking.set()
    what = "a turn that was given up is not answered"
    await stays(what, lambda: not stage.answers_to(chat, word), 2)
    turns = len(stage.model.turns_of(word))
    require(turns == 1, f"the model was asked about {word} {turns} times")


@scenario(secs=80, bill=BILL, chosen=True)
async def approval_prompt_where_the_client_allows_it(stage: Stage) -> None:
    """The model wants to run a dangerous command. 0.19.0 as `relay` asks the visitor by a text, and runs it only
    after they write `/approve`; as `discord`, it refuses the command by itself. A later client asks with buttons
    everywhere, and runs it when one of them is pressed."""
    doomed = stage.folder / "doomed"
    doomed.mkdir()
    word = stage.model.word(Plan(command=f"rm -rf {doomed}"))
    await stage.asks("approval", word)
    is_asked = not (stage.is_discord and IS_0_19)
    if is_asked:
        await until("the visitor is asked", lambda: asks_for_approval(stage), ANSWER_SECS)
        require(doomed.exists(), "the command ran before it was approved")
        if IS_0_19:
            await stage.front.write("approval", "/approve")
        else:
            await stage.front.press("approval", ALLOW)
        await until("the command runs", lambda: not doomed.exists(), ANSWER_SECS)
    await stage.is_answered("approval", word)
    results = stage.model.turns_of(word)[0].results
    require(len(results) == 1, f"the model was told {len(results)} results")
    if not is_asked:
        require(doomed.exists(), "the command ran, and nobody was asked")
        require("approv" in results[0], f"the model was told {results[0]}")


def asks_for_approval(stage: Stage) -> bool:
    """Returns true if the visitor can see the question."""
    if IS_0_19:
        return any("/approve" in said for said in stage.front.answers("approval"))
    return ALLOW in stage.front.buttons("approval")
