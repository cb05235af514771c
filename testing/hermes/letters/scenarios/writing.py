"""An agent writes to another without waiting, once, twice, or again and again."""

import json
import re

from letters.scenarios import scenario
from letters.stage import QUIET_SECS, Stage, given, letters, use
from props.judge import require, stays, until
from turns.model import Plan

# On one stage, with `exchange.py`. At the end neither agent may write to the other for a while.
BILL = "letters"
HOPS_MAX = 8
LIMIT = re.compile(r"\b(8|eight)\b")
LOOP_SECS = 180


@scenario(secs=60, bill=BILL, chosen=True)
async def notify_one_who_sleeps(stage: Stage) -> None:
    """The owl writes to the bat, which sleeps, and does not wait: Ann gets her answer at once. The desk wakes the
    bat, which gets the letter once when it is up."""
    await stage.asleep()
    word, _ = stage.question()
    calls = len(stage.waker.calls)
    asked = await stage.writes("notify", word)
    came = await stage.came(asked)
    require("delivery_skipped" in came, f"the owl was told {came}")
    await stage.is_answered("ann", f"the answer to {asked}")
    await stage.called(calls)
    require(not stage.bat.was_told(word), "a bat that sleeps was told")
    await stage.awake()
    await stage.asked_once(word)


@scenario(secs=30, bill=BILL)
async def one_dispatch_id_is_one_letter(stage: Stage) -> None:
    """Ann writes twice, and both times the owl sends the same letter with one `dispatch_id`, as after a lost
    response. The bat's model gets one request."""
    await stage.awake()
    word, _ = stage.question()
    receipts = []
    for _ in range(2):
        asked = await stage.writes("notify", word, dispatch_id=f"about-{word}")
        receipts.append(delivery_id(await stage.came(asked)))
        await stage.is_answered("ann", f"the answer to {asked}")
    require(receipts[0] == receipts[1], f"one letter is {receipts}")
    await stage.asked_once(word)


def delivery_id(came: str) -> str:
    """Returns the id of a delivered letter from the tool's result."""
    return json.loads(came)["structuredContent"]["dispatched"][0]["delivered"]["delivery_id"]


@scenario(secs=90, bill=BILL)
async def two_who_answer_letters_with_letters(stage: Stage) -> None:
    """Ann asks the owl about a word. Each agent that is asked about that word writes to the other about it. It ends
    with the eighth letter: the desk refuses the ninth, and its sender learns of the limit. Both continue to answer
    people."""
    await stage.awake()
    word = stage.owl.model.word()
    for agent, other in ((stage.owl, stage.bat), (stage.bat, stage.owl)):
        message = f"what do you think about {word}?"
        wish = use("notify", {"agent": other.name, "message": message})
        agent.model.plans[word] = Plan(call=wish)
    await stage.asks("ann", word)
    await until("a letter is refused", lambda: bool(refused(stage, word)), LOOP_SECS)
    await stays("nobody writes any more", lambda: sent(stage, word) == HOPS_MAX, QUIET_SECS)
    words = refused(stage, word)
    require(len(words) == 1, f"refused were {words}")
    require(LIMIT.search(words[0]) is not None, f"whoever was refused was told {words[0]}")
    turns = [len(agent.model.turns_of(word)) for agent in (stage.owl, stage.bat)]
    require(sum(turns) == HOPS_MAX + 1, f"the models were asked {turns} times")
    for person, agent in (("ann", stage.owl), ("bob", stage.bat)):
        await stage.goes_on(person, agent)


def sent(stage: Stage, word: str) -> int:
    """Returns the number of delivered letters about a word."""
    return sum(len(letters(agent, word)) for agent in (stage.owl, stage.bat))


def refused(stage: Stage, word: str) -> list[str]:
    """Returns the refusals of letters about a word that the models got."""
    turns = [turn for agent in (stage.owl, stage.bat) for turn in agent.model.turns_of(word)]
    return [given(result) for turn in turns for result in turn.results if '"error"' in result]
