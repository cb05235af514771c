"""Agents with a planted fault, each for the scenario that must reject it. `python faults.py NAME` runs one."""

import asyncio
import os
import sys
import uuid

from agent import SoundAgent, forever
from wires import WIRES, Json, Lost


class AcksFirst(SoundAgent):
    """Acknowledges before the turn."""

    async def turn(self, entry: str, event: Json, before: asyncio.Task[None] | None) -> None:
        await self.ack(entry)
        await super().turn(entry, event, before)


class AnswersTwice(SoundAgent):
    """Answers an entry again when it comes again."""

    def request_id(self, entry: str) -> str:
        return uuid.uuid4().hex

    async def take_entry(self, entry: str, event: Json) -> None:
        self.begin(entry, event)


class AnswersInTheFirstChat(SoundAgent):
    """Answers everybody in the chat of the first message."""

    first: str | None = None

    def chat_of(self, event: Json) -> str:
        self.first = self.first or super().chat_of(event)
        return self.first


class IgnoresStops(SoundAgent):
    """Confirms stops, and goes on."""

    async def stop(self, frame: Json) -> None:
        await self.wire.report_stop(frame["stop_id"], True)


class NeverAnswersStops(SoundAgent):
    """Does not read stop orders."""

    async def stop(self, frame: Json) -> None:
        return


class NeverAcks(SoundAgent):
    """Acknowledges nothing."""

    async def ack(self, entry: str) -> None:
        return


class RepeatsWithANewId(SoundAgent):
    """Repeats a send without a result under a new id."""

    def request_id(self, entry: str) -> str:
        return uuid.uuid4().hex


class GivesUpSends(SoundAgent):
    """Gives a send without a result up."""

    async def reply(self, entry: str, event: Json) -> None:
        try:
            await self.wire.send(self.request_id(entry), self.chat_of(event), event["text"])
        except Lost:
            pass


class ForgetsTurnsOfALostLine(SoundAgent):
    """Ends all turns with their line, and counts their entries as handled."""

    async def end_line(self) -> None:
        for turn in self.running.values():
            turn.cancel()
        await super().end_line()


class AnswersOutOfOrder(SoundAgent):
    """Runs the turns of a chat at the same time."""

    async def turn(self, entry: str, event: Json, before: asyncio.Task[None] | None) -> None:
        await super().turn(entry, event, None)


class StaysAway(SoundAgent):
    """Does not come back after its line was lost."""

    async def end_line(self) -> None:
        await forever()


class HidesRevocation(SoundAgent):
    """Tries forever to get a line with a revoked secret, and says nothing."""

    async def end_revoked(self) -> None:
        await asyncio.sleep(1)


class DropsExcess(SoundAgent):
    """Handles at most four entries at once, and drops the others."""

    def begin(self, entry: str, event: Json) -> None:
        if len(self.running) < 4:
            super().begin(entry, event)
        else:
            self.handled.add(entry)


class AcksOnce(SoundAgent):
    """Acknowledges each entry once, and never again."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.acked: set[str] = set()

    async def ack(self, entry: str) -> None:
        if entry not in self.acked:
            self.acked.add(entry)
            await super().ack(entry)


class DialsWithoutRest(SoundAgent):
    """Dials again at once, many times."""

    async def end_line(self) -> None:
        return


FAULTS: dict[str, type[SoundAgent]] = {
    "sound": SoundAgent,
    "acks-first": AcksFirst,
    "answers-twice": AnswersTwice,
    "answers-in-the-first-chat": AnswersInTheFirstChat,
    "ignores-stops": IgnoresStops,
    "never-answers-stops": NeverAnswersStops,
    "never-acks": NeverAcks,
    "repeats-with-a-new-id": RepeatsWithANewId,
    "gives-up-sends": GivesUpSends,
    "forgets-turns-of-a-lost-line": ForgetsTurnsOfALostLine,
    "answers-out-of-order": AnswersOutOfOrder,
    "stays-away": StaysAway,
    "hides-revocation": HidesRevocation,
    "drops-excess": DropsExcess,
    "acks-once": AcksOnce,
    "dials-without-rest": DialsWithoutRest,
}

if __name__ == "__main__":
    wire = WIRES[os.environ["NIGHTDESK_TRANSPORT"]]()
    asyncio.run(FAULTS[sys.argv[1]](wire).run())
