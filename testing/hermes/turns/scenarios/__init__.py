"""The scenarios, one function each; its docstring describes the behaviour that it proves.

Modules in this folder are found automatically. Scenarios of one bill run one after the other on one stage, each in
its
own chats; the others have their own stages.
"""

from props.scenario import Playbill

PLAYBILL = Playbill(__name__, __path__)
scenario = PLAYBILL.scenario
