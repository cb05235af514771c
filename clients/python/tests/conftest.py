"""The fixtures of the tests."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from fakedesk import GATEWAY, SECRET, FakeDesk, fake_desk

from nightdesk import Desk, limits

ROOT = Path(__file__).resolve().parents[3]
VECTORS = ROOT / "crates/protocol/tests/vectors"
SNAPSHOTS = ROOT / "crates/protocol/tests/wire/snapshots"

Connect = Callable[..., Desk]


@pytest.fixture
async def desk() -> AsyncIterator[FakeDesk]:
    """A fake desk."""
    async with fake_desk() as fake:
        yield fake


@pytest.fixture
def connect(desk: FakeDesk) -> Connect:
    """Makes an agent of the fake desk."""
    return lambda **options: Desk(desk.url, GATEWAY, SECRET, **options)


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shortens the delays between dials, which every test of a lost line waits for."""
    monkeypatch.setattr(limits, "BACKOFF_FIRST", 0.02)
    monkeypatch.setattr(limits, "BACKOFF_MAX", 0.05)
    monkeypatch.setattr(limits, "RESTART_SPREAD", 0.1)
    monkeypatch.setattr(limits, "RETRY_AFTER_MAX", 0.3)


@asynccontextmanager
async def serving(app: Any, port: int = 0) -> AsyncIterator[str]:
    """Serves an ASGI application over real HTTP, and yields its address."""
    config = uvicorn.Config(app, port=port, log_level="error", ws="none", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None  # type: ignore[attr-defined]
    task = asyncio.create_task(server._serve())
    while not server.started:
        await asyncio.sleep(0.005)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await task


async def until(is_true: Callable[[], object], wait: float = 5.0) -> None:
    """Waits until a condition holds."""
    async with asyncio.timeout(wait):
        while not is_true():
            await asyncio.sleep(0.005)


async def within(work: Awaitable[Any], wait: float = 5.0) -> Any:
    """Returns a result that must come in time."""
    async with asyncio.timeout(wait):
        return await work
