"""Answers each message with its text, exactly once, over a line, polls, or posts. `wait 5 WORD` takes five seconds."""

import asyncio
import os

import uvicorn

from nightdesk import Desk, Entry, Turn
from nightdesk.errors import BusyError, NoLineError, RevokedError, UnknownOutcomeError
from nightdesk.poll import PollingDesk
from nightdesk.webhook import WebhookApp

AGAIN_AFTER = 0.5


async def think(text: str) -> None:
    words = text.split()
    if words[0] == "wait":
        await asyncio.sleep(float(words[1]))


async def reply(entry: Entry) -> None:
    """Sends the reply under an id made of the entry's: the desk sends it once, however often it is asked."""
    fields = {"content": entry.text, "reply_to": entry.message_id}
    while True:
        try:
            await entry.desk.act("send", entry.place, request_id=f"reply-{entry.id}", **fields)
        except (UnknownOutcomeError, NoLineError, BusyError):
            await asyncio.sleep(AGAIN_AFTER)
        else:
            return


async def echo(entry: Entry) -> None:
    await think(entry.text)
    await reply(entry)


async def answer(turn: Turn) -> str:
    await think(turn.text)
    return turn.text


def serve_posts() -> None:
    app = WebhookApp(answer, os.environ["NIGHTDESK_WEBHOOK_SECRET"], cancel_on_stop=True)
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")


def main() -> None:
    transport = os.environ.get("NIGHTDESK_TRANSPORT", "line")
    if transport == "webhook":
        serve_posts()
        return
    kind = PollingDesk if transport == "polling" else Desk
    try:
        asyncio.run(kind.from_env().run(echo, cancel_on_stop=True))
    except RevokedError as error:
        print(error)


if __name__ == "__main__":
    main()
