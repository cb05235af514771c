"""The model behind the gateway: it has OpenAI's API, and records its requests.

Every message of a scenario contains a unique word, such as `t0042`. The model answers with the words of the question,
or as the scenario has planned for one of them.
"""

import asyncio
import contextlib
import json
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from props.http import read_request, response

WORD = re.compile(r"\bt\d{4}\b")
NAME = "night-model"
PART_CHARS = 200
THOUGHT_SECS = 0.25
# The time a model takes to read the result of a tool. The client types 0.3 s after it has reported a tool; a turn that
# ends at that moment may cancel that in vain and never end (`asyncio.wait_for` of Python 3.11 can lose a cancellation).
READ_SECS = 1.5
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


@dataclass(frozen=True)
class Call:
    """A tool and its arguments."""

    tool: str
    arguments: dict[str, Any]


@dataclass
class Plan:
    """The model's answer to a question with a word."""

    reply: str | None = None
    # A command that it runs before it answers.
    command: str | None = None
    # Another tool that it uses before it answers. Then it answers with the result.
    call: Call | None = None
    # It streams thoughts until this event is set.
    think_until: asyncio.Event | None = None

    @property
    def wish(self) -> Call | None:
        """Returns the tool call that it makes before it answers."""
        if self.command is not None:
            return Call("terminal", {"command": self.command})
        return self.call

    def answer(self, turn: "Turn") -> str:
        """Returns its final answer."""
        came = f": {turn.results[-1]}" if self.call and turn.results else ""
        return self.reply or f"the answer to {' '.join(turn.words)}{came}"


@dataclass
class Turn:
    """One new question to the model."""

    at: float
    text: str
    words: list[str]
    # The number of streamed thoughts.
    thoughts: int = 0
    is_answered: bool = False
    # The time at which the client closed the connection although the model still thought.
    hung_up_at: float | None = None
    # The results of the model's tool calls.
    results: list[str] = field(default_factory=list)


class Model:
    """A model on 127.0.0.1."""

    def __init__(self, log: Path, words: Iterator[int]) -> None:
        self.turns: list[Turn] = []
        self.plans: dict[str, Plan] = {}
        self._log = log
        self._words = words
        self._server: asyncio.Server | None = None

    async def open(self) -> str:
        """Begins to listen, and returns the URL."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/v1"

    async def close(self) -> None:
        """Stops listening, and ends running answers."""
        assert self._server is not None
        self._server.close()
        for plan in self.plans.values():
            if plan.think_until is not None:
                plan.think_until.set()

    def word(self, plan: Plan | None = None) -> str:
        """Returns a word that no other message contains."""
        word = f"t{next(self._words):04}"
        if plan is not None:
            self.plans[word] = plan
        return word

    def asked(self) -> list[str]:
        """Returns the words of the questions, in order."""
        return [word for turn in self.turns for word in turn.words]

    def turns_of(self, word: str) -> list[Turn]:
        """Returns the turns about a word."""
        return [turn for turn in self.turns if word in turn.words]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while request := await read_request(reader):
                if request.path.endswith("/chat/completions"):
                    await self._complete(json.loads(request.body), reader, writer)
                    break
                if request.path.endswith("/v1/models"):
                    writer.write(response({"object": "list", "data": [{"id": NAME}]}))
                else:
                    writer.write(response({"error": "no such thing"}, "404 Not Found"))
                await writer.drain()
        writer.close()

    async def _complete(
        self, body: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        turn = self._turn(body)
        self._write_down(body, turn)
        planned = [self.plans[word] for word in turn.words if word in self.plans]
        plan = planned[-1] if planned and body.get("tools") else Plan()
        wish = None if turn.results else plan.wish
        if turn.results:
            await asyncio.sleep(READ_SECS)
        if plan.think_until is not None:
            writer.write(SSE_HEAD)
            if not await self._thought(plan.think_until, turn, reader, writer):
                return
        message: dict[str, Any] = {"role": "assistant"}
        if wish is not None:
            call = {"name": wish.tool, "arguments": json.dumps(wish.arguments)}
            message["content"] = None
            # The client distinguishes the calls of a chat by this.
            name = f"call_{len(self.turns)}"
            message["tool_calls"] = [{"id": name, "type": "function", "function": call}]
        else:
            message["content"] = plan.answer(turn)
            turn.is_answered = True
        if plan.think_until is None:
            writer.write(SSE_HEAD if body.get("stream") else b"")
        writer.write(streamed(message) if body.get("stream") else whole(message))
        await writer.drain()

    async def _thought(
        self,
        done: asyncio.Event,
        turn: Turn,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> bool:
        """Streams thoughts until it is done; returns false if the client closed the connection meanwhile."""
        hung_up = asyncio.create_task(reader.read(1))
        try:
            while not done.is_set() and not hung_up.done():
                writer.write(chunk({"reasoning_content": "hm "}))
                turn.thoughts += 1
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(done.wait(), THOUGHT_SECS)
            return done.is_set()
        finally:
            if hung_up.done() and not done.is_set():
                turn.hung_up_at = time.monotonic()
            hung_up.cancel()

    def _turn(self, body: dict[str, Any]) -> Turn:
        """Returns the turn of a call; a call without tools is secondary, such as for a title."""
        messages = body["messages"]
        asked = [text_of(message) for message in messages if message["role"] == "user"]
        text = asked[-1] if asked else ""
        if not body.get("tools"):
            return Turn(time.monotonic(), text, WORD.findall(text))
        if messages[-1]["role"] == "tool":
            turn = next(turn for turn in reversed(self.turns) if turn.text == text)
            turn.results.append(text_of(messages[-1]))
            return turn
        turn = Turn(time.monotonic(), text, self._new(WORD.findall(text)))
        self.turns.append(turn)
        return turn

    def _new(self, words: list[str]) -> list[str]:
        """Removes the words of an earlier, unanswered turn: the client puts them before the next question of the same
        chat."""
        for turn in reversed(self.turns):
            count = len(turn.words)
            if 0 < count < len(words) and words[:count] == turn.words and not turn.is_answered:
                return words[count:]
        return words

    def _write_down(self, body: dict[str, Any], turn: Turn) -> None:
        record = {"at": time.monotonic(), "words": turn.words, "text": turn.text[:2000]}
        record |= {"messages": len(body["messages"]), "tools": len(body.get("tools") or [])}
        record |= {"last": body["messages"][-1]["role"], "results": turn.results}
        with self._log.open("a") as log:
            log.write(json.dumps(record) + "\n")


def text_of(message: dict[str, Any]) -> str:
    """Returns the text of a message, in any of its forms."""
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(part.get("text", "") for part in content)


def chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
    """Returns a chunk of a completion."""
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({**COMPLETION, 'choices': [choice]})}\n\n".encode()


def whole(message: dict[str, Any]) -> bytes:
    """Returns a completion in one piece."""
    reason = "tool_calls" if "tool_calls" in message else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return response({**COMPLETION, "object": "chat.completion", "choices": [choice]})


def streamed(message: dict[str, Any]) -> bytes:
    """Returns a completion in many chunks."""
    deltas: list[dict[str, Any]] = []
    if "tool_calls" in message:
        calls = [{**call, "index": i} for i, call in enumerate(message["tool_calls"])]
        deltas.append({"role": "assistant", "content": None, "tool_calls": calls})
    else:
        text = message["content"]
        deltas.append({"role": "assistant", "content": ""})
        parts = range(0, len(text), PART_CHARS)
        deltas += [{"content": text[at : at + PART_CHARS]} for at in parts]
    reason = "tool_calls" if "tool_calls" in message else "stop"
    pieces = [chunk(delta) for delta in deltas]
    return b"".join([*pieces, chunk({}, reason), b"data: [DONE]\n\n"])


COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion.chunk",
    "created": 1,
    "model": NAME,
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
}
