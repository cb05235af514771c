"""The errors of the SDK. Every one that a caller gets is a `NightdeskError`."""

from nightdesk import limits

GOING_AWAY, DONE, TOO_BIG, RESTARTING, REVOKED, REPLACED = 1001, 1000, 1009, 1012, 4401, 4409

_HINTS = {
    401: "check the gateway's name and secret, and this machine's clock",
    429: "too many dials with a bad secret, so wait",
    503: "the desk cannot check credentials at the moment",
    RESTARTING: "the desk restarts",
    REVOKED: "the gateway was revoked",
    REPLACED: "a newer line replaced it: does another process use this agent?",
}


class NightdeskError(Exception):
    """An error of the desk, or of the way to it."""


class RevokedError(NightdeskError):
    """The gateway was revoked, and a second dial proved it."""


class SendError(NightdeskError):
    """A send was not made, or may not have been."""


class UnknownOutcomeError(SendError):
    """The send may have been made: no result came. The SDK never repeats it.

    A repeat with the same `request_id` is safe for a day: the desk executes an id once.
    """

    text = "the send may have been made, and no result came; repeat it with this request_id"

    def __init__(self, request_id: str) -> None:
        super().__init__(self.text)
        self.request_id = request_id


class AmbiguousError(UnknownOutcomeError):
    """The send may have been made, or made in part: the desk itself does not know its end.

    A repeat with the same `request_id` makes no other send, and gets the same error once the desk gave it up. Another
    `request_id` may send twice.
    """

    text = "the send may have been made, or in part; send it anew only if twice is better than never"


class NoLineError(SendError):
    """Nothing was sent: there was no line. A later attempt may succeed."""


class BusyError(SendError):
    """Nothing was sent: too many sends are in progress. Wait for their results."""


class TooLongError(SendError):
    """Nothing was sent: the frame has more than 4 MiB."""


class RefusedError(SendError):
    """The agent may not do that there. A repeat gets the same result."""


class FailedError(SendError):
    """The platform or the desk failed; the text gives the reason."""


class OverError(SendError):
    """Nothing was sent: the agent disconnected, fell asleep or was revoked."""


class CallError(NightdeskError):
    """An HTTP call to the desk failed."""

    # True if the same call may succeed later.
    passes = False


class UnansweredError(CallError):
    """No response came. The call may have been executed."""

    passes = True


class CallRefusedError(CallError):
    """The desk refused the call: `status`, `code` and `retry_after` (seconds, or 0) are for programs."""

    def __init__(self, what: str, status: int, code: str, detail: str, retry_after: float = 0.0) -> None:
        super().__init__(f"could not {what}: {detail or 'refused'} ({code}, status {status})")
        self.status, self.code, self.retry_after = status, code, retry_after
        self.passes = status in (408, 429) or status >= 500


class UnreadableError(CallError):
    """The desk's response cannot be read."""


class BadSignatureError(NightdeskError):
    """A request is not the desk's: its signature, its token or its age is wrong."""


class LineError(Exception):
    """There is no line any more. `code` is its close code, or the HTTP status of the dial."""

    def __init__(
        self, text: str, code: int | None = None, *, retry_after: float = 0.0, close_with: int = GOING_AWAY
    ) -> None:
        hint = _HINTS.get(code or 0)
        super().__init__(f"{text} ({hint})" if hint else text)
        self.code, self.retry_after, self.close_with = code, retry_after, close_with


def read_retry_after(header: str | None) -> float:
    """Returns the seconds of a `Retry-After`, within a bound."""
    seconds = float(header) if header is not None and header.isdecimal() else 0.0
    return min(seconds, limits.RETRY_AFTER_MAX)
