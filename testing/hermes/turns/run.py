"""Drives the whole stock gateway against the desk. Run by `turns.sh`."""

import sys

from props.run import main
from turns.scenarios import PLAYBILL
from turns.stage import Stage

if __name__ == "__main__":
    sys.exit(main("hermes", "turns.sh", PLAYBILL.find(), Stage, at_once=3))
