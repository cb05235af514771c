"""The scenarios, one function each; its docstring says what it shows.

A module in this folder is found by itself. Those of one bill follow each other on one stage, each
about words of its own.
"""

from props.scenario import Playbill

PLAYBILL = Playbill(__name__, __path__)
scenario = PLAYBILL.scenario
