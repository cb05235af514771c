"""The desk's address as agents know it: their requests, and the desk's responses."""

import itertools
from collections.abc import Iterator

from fires.tap import Call, Tap, pass_on

PROVISION, CANCEL, LIST = (f"/api/agent-cron/{door}" for door in ("provision", "cancel", "list"))
REFRESH = "/api/oauth/token"


class Portal(Tap):
    """Forwards calls to the nodes of the desk, in turn."""

    nodes: Iterator[int]
    # While true, no request gets through.
    is_cut = False

    def lead_to(self, *ports: int) -> None:
        """Sets the ports of the nodes."""
        self.nodes = itertools.cycle(ports)

    async def answer(self, call: Call) -> bytes | None:
        """Returns the next node's response."""
        if self.is_cut:
            return None
        return await pass_on(call.request, next(self.nodes), call.request.path)

    def asked(self, path: str, job: str | None = None, since: int = 0) -> list[Call]:
        """Returns the calls of a path after the first `since` calls, optionally about one job."""
        calls = [call for call in self.calls[since:] if call.request.path == path]
        return [call for call in calls if job is None or call.body["job_id"] == job]

    def arms(self, job: str) -> list[Call]:
        """Returns the calls that armed a job."""
        return self.asked(PROVISION, job)

    def arms_since(self, since: int) -> list[str]:
        """Returns the jobs that were armed after the first `since` calls."""
        return [arm.body["job_id"] for arm in self.asked(PROVISION, since=since)]
