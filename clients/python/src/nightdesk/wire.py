"""Frames: JSON objects, each on one line that ends with a line feed."""

import json
from collections.abc import Mapping
from typing import Any

from nightdesk import limits
from nightdesk.errors import TOO_BIG, LineError, TooLongError

Json = dict[str, Any]


def encode(frame: Mapping[str, object]) -> bytes:
    """Returns a frame as a line.

    Half a surrogate pair becomes a question mark: the desk closes a line that is not UTF-8.
    """
    text = json.dumps(frame, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    line = f"{text}\n".encode(errors="replace")
    if len(line) > limits.FRAME_BYTES_MAX:
        raise TooLongError(f"nothing was sent: a frame of {len(line)} bytes is too long")
    return line


def decode(line: bytes) -> Json | None:
    """Returns the object of a line, or None if it is no object."""
    frame = parse(line)
    return frame if isinstance(frame, dict) else None


def parse(text: bytes) -> Any:
    """Returns the value of a JSON text, or None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def read_text(fields: Mapping[str, Any], name: str) -> str | None:
    """Returns a text. A whole number counts as one; a field of another type counts as absent."""
    value = fields.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) else None


def read_object(fields: Mapping[str, Any], name: str) -> Json:
    """Returns an object, empty if there is none."""
    value = fields.get(name)
    return value if isinstance(value, dict) else {}


def read_objects(fields: Mapping[str, Any], name: str) -> list[Json]:
    """Returns the objects of a list."""
    value = fields.get(name)
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


class LineSplitter:
    """Joins frames that come in several messages, and splits messages with several frames."""

    def __init__(self) -> None:
        self._partial = b""

    def push(self, message: str | bytes) -> list[Json]:
        """Takes a message and returns the frames that it completes."""
        data = message.encode() if isinstance(message, str) else message
        *lines, self._partial = (self._partial + data).split(b"\n")
        if len(self._partial) > limits.FRAME_BYTES_MAX:
            raise LineError("the desk sent a frame that is too long", close_with=TOO_BIG)
        return [frame for line in lines if (frame := decode(line)) is not None]
