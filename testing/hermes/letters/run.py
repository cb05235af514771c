"""Tests letters between whole stock gateways. Run by `letters.sh`."""

import sys

from letters.scenarios import PLAYBILL
from letters.stage import Stage
from props.run import main

if __name__ == "__main__":
    sys.exit(main("hermes-letters", "letters.sh", PLAYBILL.find(), Stage, at_once=3))
