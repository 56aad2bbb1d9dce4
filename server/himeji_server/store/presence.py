"""Which bots have a stream, which games they are in, and the bells that tell processes of changes.

Presence fades by itself when a process dies. Bells may be missed: whoever listens also looks.
"""

from collections.abc import AsyncGenerator, Sequence
from typing import Final

from himeji_server.store import keys
from himeji_server.store.client import Script, Store

PRESENT_SECONDS: Final = 15
"""How long a bot counts as connected after its stream was last seen."""

RETIRED: Final = "retired"
"""Holds the place of a bot that was retired: no stream has this name."""

_STAY: Final = Script("renew_presence")
_LEAVE: Final = Script("delete_if_equal")


class Presence:
    """Bots and their streams, for all processes."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def arrive(self, bot: str, stream: str) -> None:
        """A stream of the bot is open; any other one is told that it was taken over."""
        await self._store.call("SET", keys.present(bot), stream, "EX", PRESENT_SECONDS)
        await self._store.call("PUBLISH", keys.BOTS_BELL, f"stream {bot} {stream}")

    async def dismiss(self, bot: str) -> None:
        """The bot was retired: its streams end as if another one had taken over."""
        await self.arrive(bot, RETIRED)

    async def stay(self, bot: str, stream: str) -> str:
        """The stream is still open; the one that has the bot, which may be another meanwhile."""
        holder = await self._store.run(_STAY, [keys.present(bot)], stream, PRESENT_SECONDS)
        return bytes(holder).decode()

    async def holder(self, bot: str) -> str:
        """The stream that the bot has, "" if it has none."""
        found = await self._store.call("GET", keys.present(bot))
        return bytes(found).decode() if found and found != RETIRED.encode() else ""

    async def leave(self, bot: str, stream: str) -> None:
        """The stream is closed; one that was taken over has nothing to leave."""
        await self._store.run(_LEAVE, [keys.present(bot)], stream)

    async def add_game(self, bot: str, game_id: str) -> None:
        """The bot takes a seat in a game. Said before it sits: a game too many is harmless."""
        await self._store.call("SADD", keys.games_of(bot), game_id)

    async def tell_seated(self, bot: str, game_id: str) -> None:
        """The bot has a seat: its stream, wherever it is, looks at the game."""
        await self._store.call("PUBLISH", keys.BOTS_BELL, f"seated {bot} {game_id}")

    async def remove_game(self, bot: str, game_id: str) -> None:
        """The game is over for the bot."""
        await self._store.call("SREM", keys.games_of(bot), game_id)

    async def games_of(self, bot: str) -> list[str]:
        """The games in which the bot has, or had, a seat and which nobody saw end yet."""
        found = await self._store.call("SMEMBERS", keys.games_of(bot))
        return sorted(bytes(game_id).decode() for game_id in found)

    def bells(self, of_games: Sequence[str]) -> AsyncGenerator[tuple[str, str] | None, None]:
        """Channel and words of each bell of bots, and of games on these channels.

        None when some may have been missed.
        """
        return self._store.listen(keys.BOTS_BELL, in_slots=of_games)
