"""An agent sends a question to another and gets the reply: the other is asleep, up or too late."""

import asyncio

from letters.scenarios import scenario
from letters.stage import PATIENCE_MS, QUIET_SECS, Stage
from props.judge import require, stays, until
from turns.stage import ANSWER_SECS, THOUGHTS_MIN

# On one stage, with `writing.py`. The bat is off at first.
BILL = "letters"
SHORT_MS = 3_000


@scenario(secs=90, bill=BILL, chosen=True)
async def exchange_with_one_who_sleeps(stage: Stage) -> None:
    """Ann writes to the owl, which sends a question to the bat, whose process is off. The desk wakes the bat, which
    comes up and answers as it answers any person. The owl gets the reply as the result of its tool, and tells Ann.
    The bat's model got one request."""
    await stage.asleep()
    word, reply = stage.question()
    calls = len(stage.waker.calls)
    asked = await stage.writes("exchange", word, timeout_ms=PATIENCE_MS)
    await stage.called(calls)
    require(not stage.answers("ann", reply), "answered by nobody")
    await stage.awake()
    await has_the_reply(stage, asked, word, reply)


@scenario(secs=30, bill=BILL)
async def exchange_with_one_who_is_up(stage: Stage) -> None:
    """The same while the bat is up: the desk wakes no agent."""
    await stage.awake()
    word, reply = stage.question()
    calls = len(stage.waker.calls)
    asked = await stage.writes("exchange", word)
    await has_the_reply(stage, asked, word, reply)
    require(len(stage.waker.calls) == calls, f"{stage.waker.calls[calls:]} were called")


async def has_the_reply(stage: Stage, asked: str, word: str, reply: str) -> None:
    """Checks that the owl has the bat's reply to a word, that Ann has it, and that everything happened once."""
    came = await stage.came(asked)
    require(reply in came, f"the owl was told {came}")
    await stage.is_answered("ann", reply)
    await stage.asked_once(word)
    require(stage.bat.has_said(reply), "not the bat has said it")
    answers, turns = len(stage.answers("ann", reply)), stage.owl.model.turns_of(asked)
    require(answers == 1, f"Ann was answered {answers} times")
    results = [result for turn in turns for result in turn.results]
    require(len(results) == 1, f"the owl was told {results}")


@scenario(secs=90, bill=BILL)
async def nobody_answers_in_time(stage: Stage) -> None:
    """The bat sleeps, and the owl waits for three seconds: its tool fails without a reply, and Ann reads this. The
    owl sends another question. Now the bat comes up, gets both letters, and answers the first before the second: the
    desk does not take the late answer as the reply to the second."""
    await stage.asleep()
    late, late_reply = stage.question()
    first = await stage.writes("exchange", late, timeout_ms=SHORT_MS)
    came = await stage.came(first)
    require("no reply within 3000 ms" in came, f"the owl was told {came}")
    await stage.is_answered("ann", "no reply within 3000 ms")

    word, reply = stage.question()
    second = await stage.writes("exchange", word, timeout_ms=PATIENCE_MS)
    await until("the owl asks", lambda: bool(stage.owl.model.turns_of(second)), ANSWER_SECS)
    free = asyncio.Event()
    stage.bat.model.plans[word].think_until = free
    await stage.awake()
    await until("the bat answers late", lambda: stage.bat.has_said(late_reply), ANSWER_SECS)
    await until("the bat thinks", lambda: thinks(stage, word), ANSWER_SECS)
    waits = stage.owl.model.turns_of(second)[0]
    await stays("the owl waits", lambda: not waits.results, QUIET_SECS)
    free.set()
    await has_the_reply(stage, second, word, reply)
    require(late_reply not in waits.results[0], f"the owl was told {waits.results}")
    told = [result for turn in stage.owl.model.turns_of(first) for result in turn.results]
    require(len(told) == 1, f"one exchange ended as {told}")
    require(not stage.answers("ann", late_reply), "Ann was told what came too late")


def thinks(stage: Stage, word: str) -> bool:
    """Returns true if the bat's model is working on a word."""
    return any(turn.thoughts >= THOUGHTS_MIN for turn in stage.bat.model.turns_of(word))
