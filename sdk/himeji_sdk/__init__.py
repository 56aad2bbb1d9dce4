"""What a bot author uses: one method, and everything that plays it.

>>> from himeji_sdk import Bot, play, run
>>> class First(Bot):
...     def choose(self, game, legal):
...         return legal[0]
>>> played = play([First(), First()], seed=7)
>>> len(played.scores)
2

`run(First(), target, token)` plays the same bot online.
"""

from himeji_sdk.bot import Bot, End, Start
from himeji_sdk.client import Account, Client
from himeji_sdk.fault import BotFault
from himeji_sdk.local import Played, play
from himeji_sdk.online import run
from himeji_sdk.online_game import Decision, OnlineGame, Receipt
from himeji_sdk.replay import Replay
from himeji_sdk.retelling import Moment
from himeji_sdk.watching import Sight

__all__ = [
    "Account",
    "Bot",
    "BotFault",
    "Client",
    "Decision",
    "End",
    "Moment",
    "OnlineGame",
    "Played",
    "Receipt",
    "Replay",
    "Sight",
    "Start",
    "play",
    "run",
]
