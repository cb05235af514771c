"""The scenarios, one function each; its docstring says what it shows.

A module in this folder is found by itself. Those of one bill follow each other on one stage, each
with jobs of its own.
"""

from functools import partial

from props.scenario import NONE, Playbill

PLAYBILL = Playbill(__name__, __path__)
scenario = partial(PLAYBILL.scenario, platforms=NONE)
