"""Adds up the stops of all runs, prints the figures as the last line, and fails if any stop was wrong or missing."""

import json
import sys
from pathlib import Path

ORIGINS = {"command", "word", "button", "route", "cli", "tool", "letter"}
CLIENTS = {"rust", "polling", "webhook", "mcp", "python", "typescript", "hermes-0.19.0", "hermes-0.20.1"}


def main(path: Path) -> int:
    """Prints the figures; returns the exit code."""
    stops = [json.loads(line) for line in path.read_text().splitlines()]
    origins = {stop["origin"] for stop in stops}
    clients = {stop["client"] for stop in stops}
    stopped = [stop for stop in stops if stop["stopped"]]
    late = [stop for stop in stops if stop["late"]]
    wrong = sum(stop["wrong_session"] for stop in stops)
    untold = [stop for stop in stops if not stop["told"]]
    pairs = {(stop["client"], stop["origin"]) for stop in stopped}
    missing = sorted({(client, origin) for client in CLIENTS for origin in ORIGINS} - pairs)
    for client, origin in missing:
        print(f"not stopped: {client} by {origin}")
    for stop in untold:
        print(f"not told as promised: {stop['client']} by {stop['origin']}: {stop['notice']}")
    print(
        f"stop: origins={len(origins)} clients={len(clients)} stopped={len(stopped)} "
        f"late={len(late)} wrong_session={wrong}"
    )
    return 1 if missing or late or wrong or untold else 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
