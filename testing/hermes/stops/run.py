"""Stops running turns from every origin, and writes the results down. Run by `stops.sh`."""

import argparse
import asyncio
import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from props.client import VERSION
from props.judge import POLL_SECS, Broken, until
from props.postgres import Cluster
from props.stage import make_template
from stops.clients import Client, Stock
from stops.stage import BOSS, WORD, Stage

# A stop that takes longer is late.
LATE_SECS = 2.0
# A stop that takes longer did not happen.
STOP_SECS = 20.0
# Longest time until the person or the caller is told.
TOLD_SECS = 20.0
# The release of Hermes beside which the clients of other kinds run.
NEWEST = "0.20.1"


@dataclass
class Stop:
    """One stop and its outcome."""

    client: str
    origin: str
    # What the person or the caller was told, or the error because of which there was no stop.
    notice: str
    secs: float = 0
    stopped: bool = False
    late: bool = False
    # True if the person or the caller was told what the client's kind promises.
    told: bool = False
    # The number of other sessions whose turn ended.
    wrong_session: int = 0


class Trial:
    """The stops of one client."""

    def __init__(self, stage: Stage, client: Client) -> None:
        self.stops: list[Stop] = []
        self._stage = stage
        self._client = client
        self._person, self._bystander = stage.people(client)

    async def run(self) -> None:
        """Stops the client from every origin, one after the other. Meanwhile another session's turn runs."""
        origins = {
            "command": self._stop_by_command,
            "word": self._stop_by_word,
            "button": self._stop_by_button,
            "route": self._stop_by_route,
            "cli": self._stop_by_cli,
            "tool": self._stop_by_tool,
            "letter": self._stop_by_letter,
        }
        for origin, stop in origins.items():
            await self._keep_bystander()
            try:
                await stop(origin)
            except (Broken, OSError) as error:
                print(f"FAILED {self._client.name} {origin}: {error!r}")
                self.stops.append(Stop(self._client.name, origin, repr(error)))

    async def _keep_bystander(self) -> None:
        """Has the bystander's turn run."""
        await self._client.wait_until_ready()
        if str(self._bystander) not in self._client.running:
            await self._begin(self._bystander)

    async def _begin(self, person: int) -> None:
        """Begins a turn of a person on Telegram."""
        await self._client.wait_until_ready()
        await self._stage.telegram.says(person, self._client.question(str(person)))
        await self._client.wait_until_working(str(person))

    async def _stop_by_command(self, origin: str) -> None:
        await self._begin(self._person)
        await self._judge_person(origin, lambda: self._stage.telegram.says(self._person, "/stop"))

    async def _stop_by_word(self, origin: str) -> None:
        await self._begin(self._person)
        await self._judge_person(origin, lambda: self._stage.telegram.says(self._person, WORD))

    async def _stop_by_button(self, origin: str) -> None:
        if not self._client.shows_unfinished:
            await self._stop_by_page(origin)
            return
        await self._begin(self._person)
        await self._judge_person(origin, lambda: self._stage.press_stop(self._person))

    async def _stop_by_page(self, origin: str) -> None:
        page = self._stage.pages[self._client.name]
        await self._client.wait_until_ready()
        known = set(self._client.running)
        await page.write("visitor", self._client.question("visitor"))
        chat = await self._visitor_chat(known)

        async def told() -> list[str]:
            return [text.strip() for text in page.answers("visitor")]

        # The page's script posts this when the button is pressed.
        await self._judge(origin, chat, lambda: page.write("visitor", "/stop"), told, self._client.notice)

    async def _visitor_chat(self, known: set[str]) -> str:
        """Waits until the turn of the page's visitor runs; returns its chat, which was not known before."""
        if isinstance(self._client, Stock):
            # It records turns by their questions.
            await self._client.wait_until_working("visitor")
            return "visitor"
        # The visitor's id is the chat. It is known from the first entry.
        await until(
            "a turn runs on the page's message", lambda: bool(self._client.running - known), STOP_SECS
        )
        return (self._client.running - known).pop()

    async def _stop_by_route(self, origin: str) -> None:
        person = str(self._person)
        token = await self._stage.token(self._client.agent)
        body = {"platform": "telegram", "chat_id": person, "user_id": person}
        await self._begin(self._person)
        await self._judge_call(origin, person, lambda: self._stage.post("/v1/sessions/stop", token, body))

    async def _stop_by_cli(self, origin: str) -> None:
        person = str(self._person)
        chat = ("--platform", "telegram", "--chat", person, "--user", person)
        await self._begin(self._person)
        await self._judge_call(
            origin, person, lambda: self._stage.desk.ask("agent", "stop", *self._client.whose, *chat)
        )

    async def _stop_by_tool(self, origin: str) -> None:
        person = str(self._person)
        token = await self._stage.token(BOSS)
        body = {"agent": self._client.agent, "platform": "telegram", "chat_id": person, "user_id": person}
        await self._begin(self._person)
        await self._judge_call(origin, person, lambda: self._stage.tool("stop", token, body))

    async def _stop_by_letter(self, origin: str) -> None:
        """A letter whose wake interrupts stops the turn on the one before; then its sender stops it, too."""
        first = await self._write_letter({"op": "deliver"})
        await self._client.wait_until_working(first)
        second = ""

        async def interrupt() -> None:
            nonlocal second
            second = await self._write_letter({"op": "wake", "interrupt": True})

        await self._judge(origin, first, interrupt)
        await self._client.wait_until_working(second)
        token = await self._stage.token(BOSS)
        route = f"/v1/letters/{second.removeprefix('letter:')}/stop"
        await self._judge_call(origin, second, lambda: self._stage.post(route, token, {}))

    async def _write_letter(self, kind: dict[str, object]) -> str:
        """The boss writes a letter; returns its chat."""
        token = await self._stage.token(BOSS)
        body = {**kind, "agent": self._client.agent, "message": self._client.question("letter")}
        sent = await self._stage.post("/v1/letters", token, body)
        headers = {"authorization": f"Bearer {token}"}
        listed = await self._stage.http.get(
            f"{self._stage.desk.front.public_url}/v1/letters", headers=headers
        )
        letters = [one for one in listed.json()["letters"] if one["dispatch_id"] == sent["dispatch_id"]]
        chat = f"letter:{letters[0]['letter_id']}"
        self._client.move_question("letter", chat)
        return chat

    async def _judge_person(self, origin: str, act: Callable[[], Awaitable[object]]) -> None:
        """Judges a stop by the person on Telegram, who gets a notice."""
        before = len(await self._stage.texts_to(self._person))

        async def told() -> list[str]:
            return (await self._stage.texts_to(self._person))[before:]

        await self._judge(origin, str(self._person), act, told, self._client.notice)

    async def _judge_call(
        self, origin: str, chat: str, call: Callable[[], Awaitable[dict[str, object]]]
    ) -> None:
        """Judges a stop by a caller, who gets an outcome."""
        outcomes: list[str] = []

        async def act() -> None:
            outcomes.append(str((await call())["outcome"]))

        async def told() -> list[str]:
            return outcomes

        await self._judge(origin, chat, act, told, self._client.outcome)

    async def _judge(
        self,
        origin: str,
        chat: str,
        act: Callable[[], Awaitable[object]],
        told: Callable[[], Awaitable[list[str]]] | None = None,
        promised: str = "",
    ) -> None:
        """Stops a turn, and records the time until it stopped and what was told, if the origin tells anything."""
        others = self._client.running - {chat}
        began = time.monotonic()
        acting = asyncio.ensure_future(act())
        while chat in self._client.running and time.monotonic() < began + STOP_SECS:
            await asyncio.sleep(POLL_SECS)
        stopped_at = self._client.stopped_at.get(chat, -math.inf)
        stopped = stopped_at >= began
        secs = (stopped_at if stopped else time.monotonic()) - began
        await acting
        notice = await self._wait_told(told, promised) if told else promised
        stop = Stop(
            self._client.name,
            origin,
            notice,
            secs=round(secs, 3),
            stopped=stopped,
            late=secs > LATE_SECS,
            told=notice == promised,
            wrong_session=len(others - self._client.running),
        )
        is_good = stop.stopped and stop.told and not stop.wrong_session
        print(f"{'ok' if is_good else 'FAILED':<7}{stop}")
        self.stops.append(stop)

    async def _wait_told(self, told: Callable[[], Awaitable[list[str]]], promised: str) -> str:
        """Returns the promised text once it was told, or everything that was told in time."""
        end = time.monotonic() + TOLD_SECS
        while promised not in (texts := await told()):
            if time.monotonic() > end:
                return " | ".join(texts)
            await asyncio.sleep(POLL_SECS * 5)
        return promised


async def run(folder: Path, only: set[str]) -> list[Stop]:
    """Runs all trials of this release of Hermes."""
    cluster = Cluster.shared()
    template = folder / "template"
    template.mkdir()
    await make_template(template, cluster)
    place = folder / f"stops-{VERSION.replace('.', '-')}"
    place.mkdir()
    stage = Stage(place, cluster, with_others=VERSION == NEWEST, only=only)
    trials = [Trial(stage, client) for client in stage.clients]
    try:
        await stage.set_up(None, own_cluster=False)
        await asyncio.gather(*(trial.run() for trial in trials))
    finally:
        await stage.take_down()
    return [stop for trial in trials for stop in trial.stops]


def main() -> int:
    """Runs the trials, and writes the results down."""
    parser = argparse.ArgumentParser(prog="stops.sh")
    parser.add_argument("--only", action="append", default=[], help="a client, such as rust; may be repeated")
    parser.add_argument("--keep", action="store_true", help="keep the logs")
    asked = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="nightdesk-stops-"))
    print(f"the logs are in {folder}")
    stops = asyncio.run(run(folder, set(asked.only)))
    with Path(os.environ["NIGHTDESK_STOP_RESULTS"]).open("a") as results:
        results.writelines(json.dumps(asdict(stop)) + "\n" for stop in stops)
    return 0


if __name__ == "__main__":
    sys.exit(main())
