"""Visitors ask and are answered."""

import asyncio

from props.judge import in_order, once, require, until
from turns.model import Plan
from turns.scenarios import scenario
from turns.stage import ANSWER_SECS, Stage

TALK = "talk"


@scenario(secs=30, bill=TALK)
async def first_message_answered(stage: Stage) -> None:
    """A visitor writes to a gateway that has just come up; the model is asked once, and the visitor
    gets its answer, once."""
    chat = stage.chat("first")
    word = await stage.talk(chat)
    await stage.just_once(chat, word)
