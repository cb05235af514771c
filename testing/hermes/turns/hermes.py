"""The stock gateway's process: `hermes gateway run`, with its own home."""

import asyncio
import json
import signal
import sys
from asyncio.subprocess import Process
from pathlib import Path

from props.process import end, environment, spawn, tell

STOP_SECS = 45

# The settings of any owner: the model. The client must not install anything during a test.
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

    def __init__(self, folder: Path, name: str, model_url: str, settings: dict[str, str]) -> None:
        self.home = folder / f"{name}.home"
        self.home.mkdir()
        (self.home / "config.yaml").write_text(CONFIG.format(model_url=model_url))
        self.settings = settings
        self._folder = folder
        self.log = folder / f"{name}-hermes.log"
        self._process: Process | None = None

    async def start(self) -> None:
        """Starts the gateway; it dials by itself."""
        program = Path(sys.executable).parent / "hermes"
        env = environment(self.home, HERMES_HOME=str(self.home), **self.settings)
        with self.log.open("ab") as log:
            words = [str(program), "gateway", "run", "-v"]
            self._process = await spawn(words, self._folder, env, log)

    @property
    def is_over(self) -> bool:
        """Returns true if its process has ended."""
        return self._process is not None and self._process.returncode is not None

    def configure(self, more: str) -> None:
        """Adds to its `config.yaml`, from its next start on."""
        with (self.home / "config.yaml").open("a") as config:
            config.write(more)

    def forget(self) -> None:
        """Removes every trace of an enrolment."""
        (self.home / ".env").unlink()

    def relay_state(self) -> dict[str, str]:
        """Returns the state of its relay, as its dashboard shows it."""
        state = json.loads((self.home / "gateway_state.json").read_text())
        return state["platforms"]["relay"]

    def ask_to_end(self) -> None:
        """Sends it a SIGTERM."""
        assert self._process is not None
        tell(self._process, signal.SIGTERM)

    async def stand_still(self, secs: float) -> None:
        """Stops its process for a while, like a machine without a free CPU."""
        assert self._process is not None
        tell(self._process, signal.SIGSTOP)
        await asyncio.sleep(secs)
        tell(self._process, signal.SIGCONT)

    async def ended(self) -> None:
        """Waits until it has ended."""
        assert self._process is not None
        await asyncio.wait_for(self._process.wait(), STOP_SECS)

    async def killed(self) -> None:
        """Kills it; returns when it is gone."""
        if self._process is not None:
            end(self._process)
            await self._process.wait()
