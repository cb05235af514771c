"""Visitors ask and get answers."""

import asyncio

from props.client import IS_0_19, arrive
from props.judge import in_order, once, plain, require, until
from turns.model import WORD, Plan
from turns.scenarios import scenario
from turns.stage import ANSWER_SECS, Stage

BILL = "talk"
VISITORS = 100
BURST = 10 if IS_0_19 else 3
REPEATS = 3
LONG_CHARS = 3000
LONGER_CHARS = 20_000


@scenario(secs=30, bill=BILL, chosen=True)
async def first_message_answered(stage: Stage) -> None:
    """A visitor writes to a gateway that has just started; the model gets one request, and the visitor gets its
    answer, once."""
    word = await stage.talk("first")
    await stage.just_once("first", word)


@scenario(secs=15, bill=BILL)
async def ten_in_order(stage: Stage) -> None:
    """A visitor writes ten times, each time after the answer; the model gets ten requests and the visitor ten
    answers, in order."""
    words = [await stage.talk("ten") for _ in range(10)]
    asked = [word for word in stage.model.asked() if word in words]
    require(asked == words, f"the model was asked about {asked}, and not about {words}")
    answered = WORD.findall(" ".join(stage.front.answers("ten")))
    require(answered == words, f"the visitor was answered about {answered}, and not {words}")


@scenario(secs=15 if IS_0_19 else 100, bill=BILL, platforms=("discord",))
async def messages_in_a_burst(stage: Stage) -> None:
    """A visitor writes several times without waiting. The client gathers messages that come while it is busy; the
    model gets all, in order, and each is answered once. A later client abandons its current turn for each, and reads
    nothing for half a minute while it reports this: it gets them in order, the line stays, and the model gets none
    twice."""
    words = [stage.model.word() for _ in range(BURST)]
    lines = len(stage.tap.lines)
    for word in words:
        await stage.asks("burst", word)
    await arrive(stage.model.asked, words, 2 * ANSWER_SECS)
    once(stage.model.asked(), words)
    require(len(stage.tap.lines) == lines, "the gateway dialled anew")
    in_order(WORD.findall(stage.tap.lines[-1].texts()), words)
    await stage.is_answered("burst", words[-1])
    if not IS_0_19:
        return
    in_order(stage.model.asked(), words)
    for word in words:
        await stage.is_answered("burst", word)
    answered = WORD.findall(" ".join(stage.front.answers("burst")))
    require(answered == words, f"the visitor was answered about {answered}, and not {words}")


@scenario(secs=10, bill=BILL)
async def platform_retry_makes_no_second_turn(stage: Stage) -> None:
    """The platform sends a message again, or the page posts it again with the same name, at once and after the
    answer. The desk accepts it each time, the model gets one request, and the visitor one answer."""
    word = stage.model.word()
    letter = await stage.front.write("retry", f"tell me about {word}")
    again = [stage.front.repeat(letter) for _ in range(REPEATS)]
    statuses = await asyncio.gather(*again)
    await stage.is_answered("retry", word)
    statuses.append(await stage.front.repeat(letter))
    require(set(statuses) == {200}, f"the repeats were answered with {statuses}")
    # A second turn would come before the answer to a later message.
    await stage.talk("retry")
    await stage.just_once("retry", word, quiet_secs=3)
    if not stage.is_discord:
        seen = [text for text in stage.page.own("retry") if word in text]
        require(len(seen) == 1, f"the page shows it {len(seen)} times")


@scenario(secs=10, bill=BILL)
async def answer_of_3000_characters(stage: Stage) -> None:
    """The model's answer is too long for one message on Discord, and not too long for a page. On Discord it arrives
    in several messages, none too long, in order, without loss or repetition; on a page it is one message."""
    parts = await long_answer(stage, "long", LONG_CHARS)
    is_split = len(parts) > 1
    require(is_split == stage.is_discord, f"it came in {len(parts)} messages")


@scenario(secs=10, bill=BILL, platforms=("webchat",))
async def answer_of_20000_characters_is_split(stage: Stage) -> None:
    """The model's answer is too long for one message on a page. It arrives in several messages, none too long, in
    order, without loss or repetition."""
    parts = await long_answer(stage, "longer", LONGER_CHARS)
    require(len(parts) > 1, "it came in one message")


async def long_answer(stage: Stage, chat: str, chars: int) -> list[str]:
    """The model gives an answer of this length, and the visitor gets all of it; returns its messages."""
    text = " ".join(f"w{number:05}ß" for number in range(chars // 8 + 1))[:chars]
    await stage.asks(chat, stage.model.word(Plan(reply=text)))

    def parts() -> list[str]:
        return [answer for answer in stage.front.answers(chat) if "w0" in answer]

    def all_there() -> bool:
        return plain("".join(parts())) == plain(text)

    await until("the answer is there, in order, with nothing missing", all_there, ANSWER_SECS)
    too_long = [len(part) for part in parts() if len(part) > stage.front.units_max]
    require(not too_long, f"messages of {too_long}, where {stage.front.units_max} is the most")
    await stage.talk(chat)
    require(all_there(), "something was said twice")
    return parts()


@scenario(secs=60, bill=BILL)
async def hundred_visitors_at_once(stage: Stage) -> None:
    """A hundred visitors write at once, each in their own chat; on the desk's page each has a cookie and an open
    stream. Each gets the answer to their own message, once, and no answer for another visitor."""
    chats = {f"visitor-{number}": stage.model.word() for number in range(VISITORS)}
    await asyncio.gather(*(stage.asks(chat, word) for chat, word in chats.items()))
    for chat, word in chats.items():
        await stage.is_answered(chat, word, 2 * ANSWER_SECS)
    once(stage.model.asked(), chats.values())
    for chat, word in chats.items():
        answered = WORD.findall(" ".join(stage.front.answers(chat)))
        require(answered == [word], f"{chat} asked about {word} and was answered about {answered}")
