"""The stock gateway's process: `hermes gateway run`, with a home of its own."""

import asyncio
import signal
import sys
from asyncio.subprocess import Process
from pathlib import Path

from props.process import end, environment, spawn, tell

STOP_SECS = 45

# What anyone who runs it sets: which model. And nothing is to be installed while we watch.
CONFIG = """
model:
  default: night-model
  provider: custom
  base_url: "{model_url}"
  api_key: none
  context_length: 128000
security:
  allow_lazy_installs: false
"""


class Hermes:
    """The gateway. Its home stays when it ends."""

    def __init__(self, folder: Path, model_url: str, settings: dict[str, str]) -> None:
        self.home = folder / "hermes.home"
        self.home.mkdir()
        (self.home / "config.yaml").write_text(CONFIG.format(model_url=model_url))
        self.settings = settings
        self._folder = folder
        self._process: Process | None = None

    async def start(self) -> None:
        """Starts it; it dials by itself."""
        program = Path(sys.executable).parent / "hermes"
        env = environment(self.home, HERMES_HOME=str(self.home), **self.settings)
        with (self._folder / "hermes.log").open("ab") as log:
            words = [str(program), "gateway", "run", "-v"]
            self._process = await spawn(words, self._folder, env, log)

    @property
    def is_over(self) -> bool:
        """Whether its process has ended."""
        return self._process is not None and self._process.returncode is not None

    def ask_to_end(self) -> None:
        """Sends it a SIGTERM."""
        assert self._process is not None
        tell(self._process, signal.SIGTERM)

    async def ended(self) -> None:
        """Waits until it has ended."""
        assert self._process is not None
        await asyncio.wait_for(self._process.wait(), STOP_SECS)

    async def killed(self) -> None:
        """Ends it as a crash would; returns when it is gone."""
        if self._process is not None:
            end(self._process)
            await self._process.wait()
