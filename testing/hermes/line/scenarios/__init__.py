"""The scenarios, one function each; its docstring describes the behaviour that it proves.

Modules in this folder are found automatically. Each scenario runs once per platform, with its own stage.
"""

from props.scenario import Playbill

PLAYBILL = Playbill(__name__, __path__)
scenario = PLAYBILL.scenario
