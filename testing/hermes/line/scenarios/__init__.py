"""The scenarios, one function each; its docstring says what it shows.

A module in this folder is found by itself. Each scenario is run once per platform, with a stage
of its own.
"""

from props.scenario import Playbill

PLAYBILL = Playbill(__name__, __path__)
scenario = PLAYBILL.scenario
