"""The SDK for agents in Python: connect to a Nightdesk, take what comes, answer.

Further parts are modules of their own: `errors`, `fires`, `peers`, `poll`, `wake`, `webhook`.
"""

from nightdesk.actions import Receipt, Sender, build_action
from nightdesk.desk import Desk, End
from nightdesk.errors import NightdeskError, SendError
from nightdesk.login import Login
from nightdesk.message import Descriptor, Message, Place, Source
from nightdesk.turns import Entry, Turn

__all__ = [
    "Descriptor", "Desk", "End", "Entry", "Login", "Message", "NightdeskError", "Place", "Receipt",
    "SendError", "Sender", "Source", "Turn", "build_action"]  # fmt: skip
