"""Answers the desk's posts. Start it with `uvicorn webhook_function:app`."""

import os

from nightdesk import Turn
from nightdesk.webhook import WebhookApp


async def answer(message: Turn) -> str:
    return f"You wrote: {message.text}"


app = WebhookApp(answer, os.environ["NIGHTDESK_WEBHOOK_SECRET"])
