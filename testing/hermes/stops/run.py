"""Stops running turns from every origin, and writes the results down. Run by `stops.sh`."""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from pathlib import Path

from props.client import VERSION
from props.judge import POLL_SECS, Broken
from props.postgres import Cluster
from props.stage import make_template
from stops.clients import Client
from stops.stage import BOSS, WORD, Stage

# A stop that takes longer is late.
LATE_SECS = 2.0
# A stop that takes longer did not happen.
STOP_SECS = 20.0
TOLD_SECS = 20.0
NEWEST = "0.20.1"


@dataclass
class Stop:
    """One stop and its outcome."""

    client: str
    origin: str
    secs: float
    stopped: bool
    late: bool
    # True if the person or the caller was told what the client's kind promises.
    told: bool
    notice: str
    # 1 if another session's turn ended.
    wrong_session: int


class Trial:
    """The stops of one client."""

    def __init__(self, stage: Stage, client: Client) -> None:
        self.stops: list[Stop] = []
        self._stage = stage
        self._client = client
        self._person, self._bystander = stage.people(client)

    async def run(self) -> None:
        """Stops the client from every origin, one after the other. Meanwhile another session's turn runs."""
        for origin, by_person in (("command", self._command), ("word", self._word), ("button", self._button)):
            await self._keep_bystander()
            await self._try(origin, by_person)
        for origin, by_call in (("route", self._route), ("cli", self._cli), ("tool", self._tool)):
            await self._keep_bystander()
            await self._try(origin, by_call)
        await self._keep_bystander()
        await self._letters()

    async def _keep_bystander(self) -> None:
        """Has the bystander's turn run."""
        await self._client.rests()
        if str(self._bystander) not in self._client.running:
            await self._begin(self._bystander)

    async def _begin(self, person: int) -> None:
        await self._client.rests()
        await self._stage.telegram.says(person, self._client.ask(str(person)))
        await self._client.works(str(person))

    async def _try(self, origin: str, act: Callable[[str], Awaitable[None]]) -> None:
        try:
            await act(origin)
        except (Broken, OSError) as error:
            print(f"FAILED {self._client.name} {origin}: {error!r}")
            self.stops.append(Stop(self._client.name, origin, 0, False, False, False, repr(error), 0))

    async def _command(self, origin: str) -> None:
        await self._begin(self._person)
        await self._by_person(origin, lambda: self._stage.telegram.says(self._person, "/stop"))

    async def _word(self, origin: str) -> None:
        await self._begin(self._person)
        await self._by_person(origin, lambda: self._stage.telegram.says(self._person, WORD))

    async def _button(self, origin: str) -> None:
        if self._client.shows_unfinished:
            await self._begin(self._person)
            await self._by_person(origin, lambda: self._stage.press_stop(self._person))
            return
        page = self._stage.pages[self._client.name]
        await self._client.rests()
        # The visitor's id is the chat. It is known from the first entry.
        known = set(self._client.running)
        await page.write("visitor", self._client.ask("visitor"))
        chat = await self._new_chat(known, "visitor")
        # The page's script posts this when the button is pressed.
        await self._judge(
            origin, chat, lambda: page.write("visitor", "/stop"), lambda: told_by(page.answers("visitor"))
        )

    async def _new_chat(self, known: set[str], asked: str) -> str:
        """Waits until a turn runs in a chat that was not known; returns the chat."""
        if self._client.outcome == "delivered":
            await self._client.works(asked)
            return asked
        end = time.monotonic() + STOP_SECS
        while not (new := self._client.running - known):
            if time.monotonic() > end:
                raise Broken("the client does not work on the page's message")
            await asyncio.sleep(POLL_SECS)
        return new.pop()

    async def _by_person(self, origin: str, act: Callable[[], Awaitable[object]]) -> None:
        before = len(await self._stage.told(self._person))

        async def told() -> list[str]:
            return (await self._stage.told(self._person))[before:]

        await self._judge(origin, str(self._person), act, told)

    async def _route(self, origin: str) -> None:
        token = await self._stage.token(self._client.agent)
        body = {"platform": "telegram", "chat_id": str(self._person), "user_id": str(self._person)}
        await self._begin(self._person)
        await self._by_call(
            origin, str(self._person), lambda: self._stage.post("/v1/sessions/stop", token, body)
        )

    async def _cli(self, origin: str) -> None:
        person = str(self._person)
        words = (
            "agent",
            "stop",
            *self._client.whose,
            "--platform",
            "telegram",
            "--chat",
            person,
            "--user",
            person,
        )
        await self._begin(self._person)
        await self._by_call(origin, person, lambda: self._stage.desk.ask(*words))

    async def _tool(self, origin: str) -> None:
        token = await self._stage.token(BOSS)
        person = str(self._person)
        body = {"agent": self._client.agent, "platform": "telegram", "chat_id": person, "user_id": person}
        await self._begin(self._person)
        await self._by_call(origin, person, lambda: self._stage.tool("stop", token, body))

    async def _letters(self) -> None:
        """A letter whose wake interrupts stops the turn on the one before; then its sender stops it, too."""

        async def first(origin: str) -> None:
            chat = await self._letter({"op": "deliver"})
            second: list[str] = []

            async def interrupt() -> None:
                second.append(await self._letter({"op": "wake", "interrupt": True}, waits=False))

            await self._judge(origin, chat, interrupt, nothing)
            await self._client.works(second[0])
            letter = second[0].removeprefix("letter:")
            token = await self._stage.token(BOSS)
            stop = f"/v1/letters/{letter}/stop"
            await self._by_call(origin, second[0], lambda: self._stage.post(stop, token, {}))

        await self._try("letter", first)

    async def _letter(self, how: dict[str, object], waits: bool = True) -> str:
        """The boss writes a letter; returns its chat once the client works on it."""
        token = await self._stage.token(BOSS)
        body = {**how, "agent": self._client.agent, "message": self._client.ask("letter")}
        sent = await self._stage.post("/v1/letters", token, body)
        headers = {"authorization": f"Bearer {token}"}
        listed = await self._stage.http.get(
            f"{self._stage.desk.front.public_url}/v1/letters", headers=headers
        )
        letters = [one for one in listed.json()["letters"] if one["dispatch_id"] == sent["dispatch_id"]]
        chat = f"letter:{letters[0]['letter_id']}"
        self._client.rename("letter", chat)
        if waits:
            await self._client.works(chat)
        return chat

    async def _by_call(
        self, origin: str, chat: str, call: Callable[[], Awaitable[dict[str, object]]]
    ) -> None:
        outcomes: list[str] = []

        async def act() -> None:
            outcomes.append(str((await call())["outcome"]))

        async def told() -> list[str]:
            return ["as promised" if outcomes == [self._client.outcome] else f"{outcomes}"]

        await self._judge(origin, chat, act, told, "as promised")

    async def _judge(
        self,
        origin: str,
        chat: str,
        act: Callable[[], Awaitable[object]],
        told: Callable[[], Awaitable[list[str]]],
        promise: str | None = None,
    ) -> None:
        """Stops a turn, and records the time until it stopped and what was told."""
        promised = promise or self._client.notice
        others = self._client.running - {chat}
        began = time.monotonic()
        acting = asyncio.ensure_future(act())
        while chat in self._client.running and time.monotonic() < began + STOP_SECS:
            await asyncio.sleep(POLL_SECS)
        stops = self._client.stops.get(chat, [])
        stopped = bool(stops) and stops[-1] >= began
        secs = (stops[-1] if stopped else time.monotonic()) - began
        await acting
        notice = await self._wait_told(told, promised)
        wrong = len(others - self._client.running)
        is_told = told is nothing or notice == promised
        stop = Stop(
            self._client.name, origin, round(secs, 3), stopped, secs > LATE_SECS, is_told, notice, wrong
        )
        print(f"{'ok' if stopped and is_told and not wrong else 'FAILED':<7}{stop}")
        self.stops.append(stop)

    async def _wait_told(self, told: Callable[[], Awaitable[list[str]]], promised: str) -> str:
        end = time.monotonic() + TOLD_SECS
        while True:
            texts = await told()
            if promised in texts or told is nothing:
                return promised
            if time.monotonic() > end:
                return " | ".join(texts)
            await asyncio.sleep(POLL_SECS * 5)


async def nothing() -> list[str]:
    """Returns no text: the origin tells nothing."""
    return []


async def told_by(texts: list[str]) -> list[str]:
    """Returns these texts without the space around them."""
    return [text.strip() for text in texts]


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
