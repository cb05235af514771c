"""What a visitor writes while the model thinks."""

import asyncio

from props.judge import require, until
from turns.model import Plan
from turns.scenarios import scenario
from turns.stage import ANSWER_SECS, Stage

BILL = "busy"


@scenario(secs=60, bill=BILL)
async def message_during_a_long_turn(stage: Stage) -> None:
    """A visitor writes again while the model thinks about the first message. As `discord`, both are
    answered, one after the other. As `relay`, the client gives the first turn up and says so; the
    second is answered. Neither is asked twice."""
    thinking = asyncio.Event()
    first, second = stage.model.word(Plan(think_until=thinking)), stage.model.word()
    await stage.asks("busy", first)
    await stage.model_is_asked(first)
    await stage.asks("busy", second)
    if stage.is_discord:
        await stage.all_acked()
        require(not stage.model.turns_of(second), "the second turn began during the first")
        thinking.set()
        await stage.is_answered("busy", second)
        await stage.just_once("busy", first, second)
    else:
        await stage.is_answered("busy", second)
        require(stage.model.turns_of(first)[0].was_cut, "the first turn was not given up")
        await stage.just_once("busy", second)
        turns = len(stage.model.turns_of(first))
        require(turns == 1, f"the model was asked about the first {turns} times")


@scenario(secs=60, bill=BILL)
async def stop_in_the_way_that_works(stage: Stage) -> None:
    """A visitor writes `/stop` while the model thinks. The model's call is cut, nothing more is said
    about it, and the next message is answered."""
    thinking = asyncio.Event()
    word = stage.model.word(Plan(think_until=thinking))
    await stage.asks("stop", word)
    await stage.model_is_asked(word)
    await stage.front.write("stop", "/stop")
    turn = stage.model.turns_of(word)[0]
    await until("the model's call is cut", lambda: turn.was_cut, 15)
    thinking.set()
    await stage.talk("stop")
    require(not stage.answers_to("stop", word), "a stopped turn was answered")
    require(len(stage.model.turns_of(word)) == 1, "a stopped turn began again")


@scenario(secs=80, bill=BILL)
async def approval_prompt_where_the_client_allows_it(stage: Stage) -> None:
    """The model wants to run a dangerous command. As `relay`, the visitor is asked, nothing happens
    until they write `/approve`, and then it runs. As `discord`, this client refuses it by itself."""
    doomed = stage.folder / "doomed"
    doomed.mkdir()
    word = stage.model.word(Plan(command=f"rm -rf {doomed}"))
    await stage.asks("approval", word)
    if not stage.is_discord:
        asked = lambda: [a for a in stage.front.answers("approval") if "/approve" in a]  # noqa: E731
        await until("the visitor is asked", lambda: bool(asked()), ANSWER_SECS)
        require(doomed.exists(), "the command ran before it was approved")
        await stage.front.write("approval", "/approve")
        await until("the command runs", lambda: not doomed.exists(), ANSWER_SECS)
    await stage.is_answered("approval", word)
    results = stage.model.turns_of(word)[0].results
    require(len(results) == 1, f"the model was told {len(results)} results")
    if stage.is_discord:
        require(doomed.exists(), "the command ran, and nobody was asked")
        require("approv" in results[0], f"the model was told {results[0]}")
