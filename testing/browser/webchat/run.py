"""Runs the scenes one after the other, and prints a summary in the last line."""

import argparse
import asyncio
import sys
import time
from pathlib import Path

from webchat.judge import require
from webchat.scenes import SCENES, Scene
from webchat.stand import Stand, stand

SCENE_SECS = 180


async def one(scene: Scene, on: Stand) -> bool:
    """Runs one scene. A console error of the browser fails it, too."""
    began_at = time.monotonic()
    on.complaints.clear()
    try:
        await on.agent.sleep()
        async with asyncio.timeout(SCENE_SECS):
            await scene(on)
        require(not on.complaints, f"the browser complains: {'; '.join(on.complaints[:3])}")
        error = None
    except Exception as broken:  # noqa: BLE001 - after any failure the next scene runs
        error = broken
    head = f"{'FAILED' if error else 'ok':<7}{scene.__name__} {time.monotonic() - began_at:.1f} s"
    print(head if error is None else f"{head}: {type(error).__name__}: {error}")
    if error is not None:
        print("".join(f"    {complaint}\n" for complaint in on.complaints[:5]), end="")
    return error is None


async def main() -> int:
    """Runs the selected scenes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default="target/webchat-look", type=Path)
    parser.add_argument("--only", help="scenes whose name has this in it")
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    scenes = [scene for scene in SCENES if asked.only is None or asked.only in scene.__name__]
    async with stand(asked.folder) as on:
        outcomes = [await one(scene, on) for scene in scenes]
    passed = sum(outcomes)
    failed = len(outcomes) - passed
    print(
        f"webchat-look: tests={len(outcomes)} passed={passed} failed={failed} "
        f"screenshots={len(on.taken)} folder={asked.folder}"
    )
    return 0 if failed == 0 and outcomes else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
