"""Limits of games per owner, counted in the store for the whole arena; the house has none."""

from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from himeji.rules.errors import HimejiError, LimitExceeded, StoreUnavailable
from himeji.v1.game_pb2 import SeatPlan
from himeji.wire.errors import RETRY_AFTER

from himeji_server import names
from himeji_server.games.seat_rules import invited_owners
from himeji_server.limits import Limits
from himeji_server.names import GUEST, HOUSE
from himeji_server.rate_limits import exceeded
from himeji_server.store import quotas
from himeji_server.store.game_records import Creator
from himeji_server.store.game_sets import AddStatus
from himeji_server.store.quotas import Quota, QuotaStore


class _LimitedQuota(NamedTuple):
    quota: Quota
    limit: str
    most: int
    sentence: str

    def error(self) -> LimitExceeded:
        return exceeded(self.limit, self.most, self.sentence)


class GameLimits:
    """Checks that an owner may create one more game, or take one more seat."""

    def __init__(self, quota_store: QuotaStore, limits: Limits) -> None:
        self._quotas = quota_store
        self._limits = limits

    @asynccontextmanager
    async def creation(
        self, creator: Creator, game_id: str, plans: Iterable[SeatPlan], *, limited: bool
    ) -> AsyncIterator[None]:
        """Count a game that is created in this block; raises LimitExceeded.

        A game that is refused, here or by the block, is not counted; nor are those of the house and
        of administrators, who are not limited.
        """
        added: list[Quota] = []
        try:
            if limited and creator.owner != HOUSE:
                await self._check_new(creator, game_id, plans, added)
            yield
        except StoreUnavailable:
            raise  # it may have been created
        except HimejiError:
            for quota in added:
                await self._quotas.remove(quota, game_id)
            raise
        if added:
            await self._quotas.count_created(creator.owner)

    async def _check_new(
        self, creator: Creator, game_id: str, plans: Iterable[SeatPlan], added: list[Quota]
    ) -> None:
        """Add a new game to the quotas that it counts in; `added` gets those that had it not yet.

        A game that exists is not refused: the request is a retry.
        """
        try:
            await self._check_day(creator)
            for each in self._quotas_of_new(creator, plans):
                status = await self._quotas.add(each.quota, game_id, each.most)
                if status is AddStatus.FULL:
                    raise each.error()
                if status is AddStatus.ADDED:
                    added.append(each.quota)
        except LimitExceeded:
            if not await self._quotas.is_created(game_id):
                raise

    async def _check_day(self, creator: Creator) -> None:
        """Raise LimitExceeded if the owner created too many games today.

        Games are kept when they are over, so that this bounds what an owner adds to the store; all
        guests of the page are one owner.
        Requests at the same moment are not told apart: a few too many may pass.
        """
        most = self._limits.games_created_per_day
        wait_ms = await self._quotas.wait_to_create(creator.owner, most)
        if wait_ms:
            error = exceeded("games_created_per_day", most, "you created {} games within a day")
            error.details[RETRY_AFTER] = str(wait_ms)
            raise error

    def _quotas_of_new(
        self, creator: Creator, plans: Iterable[SeatPlan]
    ) -> Iterator[_LimitedQuota]:
        most = self._limits.inviting_games_per_pair
        for invited in sorted(invited_owners(creator.owner, plans)):
            sentence = f"{{}} games that you created for bots of {invited} are not over: finish one"
            quota = quotas.inviting(creator, invited)
            yield _LimitedQuota(quota, "inviting_games_per_pair", most, sentence)
        limit = "games_per_guest" if creator.owner == GUEST else "waiting_games_per_owner"
        sentence = "{} games that you created have not begun: fill or cancel one"
        most = getattr(self._limits, limit)
        yield _LimitedQuota(quotas.waiting(creator), limit, most, sentence)

    async def check_may_join(self, bot: str, game_id: str) -> None:
        """Count a game in which a bot is about to take a seat; raises LimitExceeded."""
        owner, most = names.owner_of(bot), self._limits.games_per_owner
        if owner == HOUSE:
            return
        if await self._quotas.add(quotas.seated(owner), game_id, most) is AddStatus.FULL:
            raise exceeded("games_per_owner", most, "your bots are in {} games: finish one")
