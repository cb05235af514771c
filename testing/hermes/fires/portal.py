"""The desk's address, as agents know it: what they ask there, and what they are answered."""

import itertools
from collections.abc import Iterator

from fires.tap import Call, Tap, pass_on

PROVISION, CANCEL, LIST = (f"/api/agent-cron/{door}" for door in ("provision", "cancel", "list"))
REFRESH = "/api/oauth/token"


class Portal(Tap):
    """Passes on to the nodes of the desk, to each in turn."""

    nodes: Iterator[int]
    # Nobody gets through.
    is_cut = False

    def lead_to(self, *ports: int) -> None:
        """Where the nodes are."""
        self.nodes = itertools.cycle(ports)

    async def answer(self, call: Call) -> bytes | None:
        """What the next node says."""
        if self.is_cut:
            return None
        return await pass_on(call.request, next(self.nodes), call.request.path)

    def asked(self, path: str, job: str | None = None, since: int = 0) -> list[Call]:
        """What was asked there after so many calls, or asked about one job."""
        calls = [call for call in self.calls[since:] if call.request.path == path]
        return [call for call in calls if job is None or call.body["job_id"] == job]

    def arms(self, job: str) -> list[Call]:
        """How a job was armed, each time."""
        return self.asked(PROVISION, job)

    def arms_since(self, since: int) -> list[str]:
        """The jobs that were armed after so many calls."""
        return [arm.body["job_id"] for arm in self.asked(PROVISION, since=since)]
