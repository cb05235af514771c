"""An agent that the desk calls, without an SDK, and changes of it with a planted fault. `python posts.py NAME` runs one."""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import uvicorn
from standardwebhooks import Webhook, WebhookVerificationError

Json = dict[str, Any]
Receive = Callable[[], Awaitable[Json]]
Send = Callable[[Json], Awaitable[None]]


class SoundFunction:
    """Answers each post with its text."""

    def __init__(self) -> None:
        self.webhook = Webhook(os.environ["NIGHTDESK_WEBHOOK_SECRET"])
        # The running turns, by session.
        self.turns: dict[str, asyncio.Task[Json | None]] = {}

    async def __call__(self, scope: Json, receive: Receive, send: Send) -> None:
        """Serves a request."""
        if scope["type"] != "http":
            return
        body = b""
        while (part := await receive())["type"] == "http.request":
            body += part["body"]
            if not part["more_body"]:
                break
        headers = {name.decode(): value.decode() for name, value in scope["headers"]}
        status, answer = await self.respond(headers, body)
        content = json.dumps(answer).encode() if answer is not None else b""
        kind = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        await send({"type": "http.response.start", "status": status, "headers": kind})
        await send({"type": "http.response.body", "body": content})

    async def respond(self, headers: dict[str, str], body: bytes) -> tuple[int, Json | None]:
        """Returns the status and the body of a response."""
        if not self.is_signed(headers, body):
            return 401, None
        frame = json.loads(body)
        if frame["type"] == "interrupt_inbound":
            return 200, {"stopped": self.stop(frame["session_key"])}
        return await self.take(headers["webhook-id"], frame["event"])

    def is_signed(self, headers: dict[str, str], body: bytes) -> bool:
        """Verifies the signature."""
        try:
            self.webhook.verify(body, headers)
        except WebhookVerificationError:
            return False
        return True

    async def take(self, _entry: str, event: Json) -> tuple[int, Json | None]:
        """Answers an entry."""
        chat = event["source"]["chat_id"]
        turn = asyncio.create_task(self.turn(event))
        self.turns[chat] = turn
        await asyncio.wait([turn])
        return (204, None) if turn.cancelled() else (200, turn.result())

    async def turn(self, event: Json) -> Json:
        """Takes the time that the message asks for, and echoes it."""
        words = event["text"].split()
        if words[0] == "wait":
            await asyncio.sleep(float(words[1]))
        return {"text": event["text"]}

    def stop(self, session_key: str) -> bool:
        """Stops the running turn of a session."""
        turn = self.turns.get(session_key.rsplit(":", 1)[-1])
        return turn is not None and turn.cancel()


class TrustsAnyPost(SoundFunction):
    """Verifies no signature."""

    def is_signed(self, headers: dict[str, str], body: bytes) -> bool:
        return True


class AnswersRepeatsWithNothing(SoundFunction):
    """Counts an entry that comes again as answered."""

    def __init__(self) -> None:
        super().__init__()
        self.handled: set[str] = set()

    async def take(self, entry: str, event: Json) -> tuple[int, Json | None]:
        if entry in self.handled:
            return 204, None
        answer = await super().take(entry, event)
        self.handled.add(entry)
        return answer


class PromisesAcks(SoundFunction):
    """Responds that it acknowledges later, and does not."""

    async def take(self, entry: str, event: Json) -> tuple[int, Json | None]:
        return 202, None


class AnswersInTheFirstChat(SoundFunction):
    """Answers everybody in the chat of the first message."""

    first: str | None = None

    async def turn(self, event: Json) -> Json:
        self.first = self.first or event["source"]["chat_id"]
        await super().turn(event)
        return {"actions": [{"op": "send", "chat_id": self.first, "content": event["text"]}]}


class IgnoresStops(SoundFunction):
    """Confirms stops, and goes on."""

    def stop(self, session_key: str) -> bool:
        return True


class ServesOneAtATime(SoundFunction):
    """Refuses a post while another one is in work."""

    async def take(self, entry: str, event: Json) -> tuple[int, Json | None]:
        if any(not turn.done() for turn in self.turns.values()):
            return 503, None
        return await super().take(entry, event)


FAULTS: dict[str, type[SoundFunction]] = {
    "sound": SoundFunction,
    "trusts-any-post": TrustsAnyPost,
    "answers-repeats-with-nothing": AnswersRepeatsWithNothing,
    "promises-acks": PromisesAcks,
    "answers-in-the-first-chat": AnswersInTheFirstChat,
    "ignores-stops": IgnoresStops,
    "serves-one-at-a-time": ServesOneAtATime,
}

if __name__ == "__main__":
    app = FAULTS[sys.argv[1]]()
    uvicorn.run(app, host="127.0.0.1", port=int(os.environ["PORT"]), log_level="warning")
