"""Tests the stock client's transport with the desk. Run by `line.sh`."""

import sys

from line.scenarios import PLAYBILL
from line.stage import Stage
from props.run import main

if __name__ == "__main__":
    sys.exit(main("hermes-line", "line.sh", PLAYBILL.find(), Stage, at_once=4))
