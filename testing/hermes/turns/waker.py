"""The target of wake calls. It records the calls, and wakes no agent."""

import asyncio
import contextlib

from props.http import read_request, response


class Waker:
    """Listens on 127.0.0.1 where the desk may call."""

    def __init__(self) -> None:
        # The paths of the calls, in order.
        self.calls: list[str] = []
        self._server: asyncio.Server | None = None

    async def open(self, port: int) -> None:
        """Begins to listen."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", port)

    async def close(self) -> None:
        """Stops listening."""
        assert self._server is not None
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            while request := await read_request(reader):
                self.calls.append(request.path)
                writer.write(response({}))
                await writer.drain()
        writer.close()
