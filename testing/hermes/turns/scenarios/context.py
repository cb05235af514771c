"""The additional fields of a message, and the agent's questions."""

import json
from typing import Any

from props.client import IS_0_19
from props.judge import require, until
from turns.model import Call, Plan
from turns.scenarios import scenario
from turns.stage import ANSWER_SECS, Stage

BILL = "context"
GUILD, THREAD = "guild-1", "thread-of-owls"
LOGIN, DISPLAY = "zoe4711", "Zoë of the barn"
QUOTED = "barn owls screech and do not hoot"
QUOTE = {"text": QUOTED, "author": "Bob", "is_own": False}
QUESTION = "Which owl do you mean?"
CHOICES = ["the barn owl", "the tawny owl", "the eagle owl"]
CHOSEN = 1


@scenario(secs=60, bill=BILL, platforms=("discord",))
async def quoted_reply_and_display_name(stage: Stage) -> None:
    """A person replies to another's message in a thread. The platform's event has the quoted text and the person's
    display name. The desk's frame carries both fields to every client. 0.20.1 gives its model the quoted text, and
    the display name as the author's name. 0.19.0 gives its model the login as the author's name, and no quote."""
    word = stage.model.word()
    source = {"chat_type": "thread", "thread_id": THREAD, "scope_id": GUILD, "user_id": "u1"}
    source |= {"user_name": LOGIN, "user_display_name": DISPLAY}
    letter = stage.platform.write(f"tell me about {word}", THREAD, source, reply_to={"message_id": "m0", **QUOTE})
    await stage.platform.post_until_taken(*letter)
    await stage.is_answered(THREAD, word)

    event = event_about(stage, word)
    quoted = event["reply_to_message_id"], event["reply_to"]
    require(quoted == ("m0", QUOTE), f"the frame carries {quoted}")
    names = event["source"]["user_name"], event["source"]["user_display_name"]
    require(names == (LOGIN, DISPLAY), f"the frame names {names}")

    (turn,) = stage.model.turns_of(word)
    require((QUOTED in turn.text) != IS_0_19, f"the model was asked: {turn.text}")
    name, other = (LOGIN, DISPLAY) if IS_0_19 else (DISPLAY, LOGIN)
    require(f"[{name}]" in turn.text, f"the model was asked: {turn.text}")
    require(other not in turn.text, f"the model was asked: {turn.text}")


def event_about(stage: Stage, word: str) -> dict[str, Any]:
    """Returns the event about a word, as the desk delivered it on the line."""
    frames = [frame for line in stage.tap.lines for frame in line.desk.of("inbound")]
    (event,) = [frame.body["event"] for frame in frames if word in frame.body["event"]["text"]]
    return event


@scenario(secs=60, bill=BILL)
async def clarify_with_buttons(stage: Stage) -> None:
    """The model asks a question by the client's `clarify`, with choices. 0.20.1 asks with a button for each, and the
    visitor presses one. 0.19.0 as `relay` asks with a numbered text, and the visitor types a number. Then the model
    gets the text of the choice. 0.19.0 as `discord` does not ask, and its model gets an empty answer. The visitor
    gets an answer in any case."""
    wish = Call("clarify", {"question": QUESTION, "choices": CHOICES})
    word, chat = stage.model.word(Plan(call=wish)), "clarify"
    await stage.asks(chat, word)
    if not IS_0_19:
        await chosen_by_a_button(stage, chat, word)
    elif not stage.is_discord:
        await until("the visitor is asked", lambda: bool(numbered(stage, chat)), ANSWER_SECS)
        await stage.front.write(chat, str(CHOSEN + 1))
    await stage.is_answered(chat, word)
    (turn,) = stage.model.turns_of(word)
    require(len(turn.results) == 1, f"the model was told {turn.results}")
    is_asked = not (IS_0_19 and stage.is_discord)
    told, wanted = json.loads(turn.results[0])["user_response"], CHOICES[CHOSEN] if is_asked else ""
    require(told == wanted, f"the model was told {told!r}, not {wanted!r}")
    if IS_0_19:
        require(not stage.front.buttons(chat), f"there are buttons: {stage.front.buttons(chat)}")
        require(bool(numbered(stage, chat)) == is_asked, f"the visitor read {stage.front.answers(chat)}")


async def chosen_by_a_button(stage: Stage, chat: str, word: str) -> None:
    """The visitor gets a question with a button for each choice, and presses one."""
    await until("the visitor is asked", lambda: bool(stage.front.buttons(chat)), ANSWER_SECS)
    labels = stage.front.buttons(chat)
    # The client marks the first choice as recommended, and adds a button for any other answer.
    offered = [label.startswith(choice) for label, choice in zip(labels, CHOICES, strict=False)]
    require(len(labels) == len(CHOICES) + 1 and all(offered), f"the buttons say {labels}")
    (turn,) = stage.model.turns_of(word)
    require(not turn.results, f"the model was told {turn.results} before a button was pressed")
    await stage.front.press(chat, labels[CHOSEN])


def numbered(stage: Stage, chat: str) -> list[str]:
    """Returns the questions to a visitor, with every choice on its own line."""
    texts = [text for text in stage.front.answers(chat) if QUESTION in text]
    return [text for text in texts if all(f"{choice}\n" in f"{text}\n" for choice in CHOICES)]
