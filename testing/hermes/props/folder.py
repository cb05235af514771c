"""A temporary folder that is removed when this process ends, with every process that runs in it.

A guard process removes it: it waits on a pipe that closes when this process is done or dies. It is the guard of
`crates/servers`.
"""

import subprocess
import tempfile
from pathlib import Path

GUARD = Path(__file__).resolve().parents[3] / "crates/servers/src/guard.sh"


class Folder:
    """A guarded folder. Processes with their working directory there end with it."""

    def __init__(self, prefix: str, signal: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
        self._guard = subprocess.Popen(
            ["sh", str(GUARD), str(self.path), signal],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            # A separate process group, so that the guard outlives Ctrl-C.
            start_new_session=True,
        )

    def remove(self) -> None:
        """Ends the processes in the folder and removes it."""
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        self._guard.wait()
