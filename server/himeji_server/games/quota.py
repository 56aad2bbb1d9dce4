"""How many games an owner may have in the whole arena, and the refusal of one more."""

from himeji_server import names
from himeji_server.limits import Limits
from himeji_server.names import HOUSE
from himeji_server.rate_limits import exceeded
from himeji_server.store.quotas import QuotaStore


class Quota:
    """Counts games; those of the house are not limited, for they are everybody's."""

    def __init__(self, quotas: QuotaStore, limits: Limits) -> None:
        self._quotas = quotas
        self._waiting = limits.waiting_games_per_owner
        self._seated = limits.games_per_owner

    async def create(self, owner: str, game_id: str) -> None:
        """An owner creates a game; raises LimitExceeded."""
        if owner == HOUSE or await self._quotas.add_waiting(owner, game_id, self._waiting):
            return
        raise exceeded(
            "waiting_games_per_owner",
            self._waiting,
            "{} games that you created have not begun: fill or cancel one",
        )

    async def sit(self, bot: str, game_id: str) -> None:
        """A bot sits down in a game; raises LimitExceeded."""
        owner = names.owner_of(bot)
        if owner == HOUSE or await self._quotas.add_seated(owner, game_id, self._seated):
            return
        raise exceeded("games_per_owner", self._seated, "your bots are in {} games: finish one")
