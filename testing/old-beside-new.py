#!/usr/bin/env python3
"""Measures an older build of the desk beside today's, in alternating turns.

usage: old-beside-new.py OLD NEW TURNS PROOF [ARGUMENT…]

OLD and NEW are folders with release builds (`just _proofs`). Each turn starts PROOF of both folders, with the desk of
the same folder and a database of its own, first the old one and then the new one, and in the next turn the other way
round. The last line has the medians of both sides for each figure of the proof, and the median of the turns' ratios.
"""

import os
import statistics
import subprocess
import sys
from pathlib import Path

# Longest time that one run of a proof may take.
RUN_MAX_SECONDS = 1800


def figures(folder: Path, proof: str, arguments: list[str]) -> dict[str, float]:
    """Runs a proof and returns the figures of its last line."""
    desk = {"NIGHTDESK_BIN": str(folder / "nightdesk")}
    run = subprocess.run(
        [folder / proof, *arguments],
        env=os.environ | desk,
        stdout=subprocess.PIPE,
        text=True,
        timeout=RUN_MAX_SECONDS,
        check=False,
    )
    lines = run.stdout.strip().splitlines()
    if not lines or not lines[-1].startswith(f"{proof}: "):
        sys.exit(f"{folder / proof} printed no figures (exit status {run.returncode})")
    found = {}
    for pair in lines[-1].split()[1:]:
        name, _, value = pair.partition("=")
        try:
            found[name] = float(value)
        except ValueError:
            # Text, such as the name of a bell, is no figure.
            continue
    return found


def main() -> None:
    if len(sys.argv) < 5:
        sys.exit(__doc__)
    folders = {"old": Path(sys.argv[1]).resolve(), "new": Path(sys.argv[2]).resolve()}
    turns, proof, arguments = int(sys.argv[3]), sys.argv[4], sys.argv[5:]
    runs: dict[str, list[dict[str, float]]] = {"old": [], "new": []}
    for turn in range(turns):
        for side in ("old", "new") if turn % 2 == 0 else ("new", "old"):
            runs[side].append(figures(folders[side], proof, arguments))
            shown = " ".join(f"{name}={value:g}" for name, value in runs[side][-1].items())
            print(f"turn {turn + 1} of {turns}, {side}: {shown}", flush=True)
    parts = []
    for name in runs["new"][0]:
        pairs = [
            (old[name], new[name])
            for old, new in zip(runs["old"], runs["new"], strict=True)
            if name in old and name in new
        ]
        if not pairs:
            continue
        old, new = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratios = [new / old for old, new in pairs if old]
        ratio = f"{statistics.median(ratios):.2f}" if ratios else "-"
        parts.append(f"{name}={old:g}/{new:g}/{ratio}")
    print(f"old-beside-new: proof={proof} turns={turns} {' '.join(parts)}")


main()
