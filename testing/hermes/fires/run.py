"""Tests the stock client's cron with the desk. Run by `fires.sh`."""

import sys

from fires.scenarios import PLAYBILL
from fires.stage import Stage
from props.run import main

if __name__ == "__main__":
    sys.exit(main("hermes-cron", "fires.sh", PLAYBILL.find(), Stage, at_once=4))
