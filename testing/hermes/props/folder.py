"""A temporary folder that goes when we go, with every process that runs in it.

The removing is not ours: a guard waits at the other end of a pipe, which closes when we are done
and when we die. It is the guard that `crates/servers` uses.
"""

import subprocess
import tempfile
from pathlib import Path

GUARD = Path(__file__).resolve().parents[3] / "crates/servers/src/guard.sh"


class Folder:
    """A guarded folder. What has its working directory there is ended with it."""

    def __init__(self, prefix: str, signal: str) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=prefix)).resolve()
        self._guard = subprocess.Popen(
            ["sh", str(GUARD), str(self.path), signal],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd="/",
            # A group of its own: it outlives Ctrl-C.
            start_new_session=True,
        )

    def remove(self) -> None:
        """Ends what runs in the folder and removes it."""
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        self._guard.wait()
