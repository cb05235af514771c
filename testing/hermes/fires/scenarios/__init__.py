"""The scenarios, one function each; its docstring describes the behaviour that it proves.

Modules in this folder are found automatically. Scenarios of one bill run one after the other on one stage, each with
its own jobs.
"""

from functools import partial

from props.scenario import NONE, Playbill

PLAYBILL = Playbill(__name__, __path__)
scenario = partial(PLAYBILL.scenario, platforms=NONE)
