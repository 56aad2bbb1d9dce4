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

from himeji_sdk._bot import Bot, End, Start
from himeji_sdk._bot_fault import BotFault
from himeji_sdk._client.client import Account, Client
from himeji_sdk._client.online_game import Decision, OnlineGame, Receipt
from himeji_sdk._client.service_client import AdminClient, LadderClient, ServiceClient
from himeji_sdk._client.spectator import Sight
from himeji_sdk._local_play import Played, play
from himeji_sdk._online.run import run
from himeji_sdk._replay.replay import Replay
from himeji_sdk._replay.steps import Moment

__all__ = [
    "Account",
    "AdminClient",
    "Bot",
    "BotFault",
    "Client",
    "Decision",
    "End",
    "LadderClient",
    "Moment",
    "OnlineGame",
    "Played",
    "Receipt",
    "Replay",
    "ServiceClient",
    "Sight",
    "Start",
    "play",
    "run",
]
