"""Who in this process is subscribed to which games; each change is published exactly once.

Whatever changes a game in memory publishes it here: a commit of this process, and what is read from
the store because another process committed. Both may come upon the same change; what was published
already is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

import structlog
from himeji.rules.errors import HimejiError

from himeji_server.games.live_game import Fingerprint, GameView
from himeji_server.store.game_records import OVER

_log = structlog.get_logger(__name__)

OnChange = Callable[[GameView], None]
OnGone = Callable[[str, HimejiError], None]


class Subscribers:
    """The subscriptions of this process."""

    def __init__(self) -> None:
        self._games: defaultdict[str, dict[OnChange, OnGone]] = defaultdict(dict)
        self._published: dict[str, Fingerprint] = {}  # of the last view that was published

    def __contains__(self, game_id: str) -> bool:
        """Whether anybody is subscribed to the game."""
        return game_id in self._games

    @property
    def game_ids(self) -> list[str]:
        """The games with subscribers."""
        return list(self._games)

    def published_version(self, game_id: str) -> int:
        """The version that was published last, -1 for none."""
        last = self._published.get(game_id)
        return last.version if last is not None else -1

    def subscribe(
        self, game_id: str, on_change: OnChange, on_gone: OnGone, known: GameView | None = None
    ) -> None:
        """Call `on_change` with each later view of the game, and `on_gone` if the store lost it.

        `known` is the view that the subscriber has already.
        """
        if known is not None and game_id not in self._games:
            self._published[game_id] = known.fingerprint()
        self._games[game_id][on_change] = on_gone

    def unsubscribe(self, game_id: str, on_change: OnChange) -> bool:
        """End a subscription; whether the end of the game was published. Twice is harmless."""
        last = self._published.get(game_id)
        self._games[game_id].pop(on_change, None)
        if not self._games[game_id]:
            del self._games[game_id]
            self._published.pop(game_id, None)
        return last is not None and last.state == OVER

    def publish(self, view: GameView) -> None:
        """Call the subscribers, unless they know of this change."""
        subscribers = self._games.get(view.game_id)
        if not subscribers:
            return
        fingerprint = view.fingerprint()
        if self._published.get(view.game_id) == fingerprint:
            return
        self._published[view.game_id] = fingerprint
        for on_change in tuple(subscribers):
            try:
                on_change(view)
            except Exception:  # noqa: BLE001 - neither the commit nor the others may suffer
                _log.exception("unexpected error in a subscriber", game=view.game_id)

    def publish_loss(self, game_id: str, error: HimejiError) -> None:
        """Tell the subscribers that the store has lost the game."""
        for on_gone in list(self._games.get(game_id, {}).values()):
            on_gone(game_id, error)
