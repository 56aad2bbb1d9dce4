"""What positions of the solitaire rulesets hold beyond those of the base game."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from himeji.rules.castle.section import Section
from himeji.rules.castle.solo.constants import SOLITAIRE_PILE
from himeji.rules.castle.solo.rival import RivalActions, solitaire
from himeji.rules.castle.solo.rival_actions import RivalChoice
from himeji.rules.castle.state import CastleGame
from himeji.rules.constants import GOOD_NAMES, RIVAL_GOODS

if TYPE_CHECKING:
    from himeji.rules.castle.reader import CastleReader


class SolitaireSection(Section):
    """The solitaire deck beside its unseen cards: the visible top, and what lies under it."""

    key = "solitaire"

    def describe(self, game: CastleGame) -> Any:
        """Names instead of numbers."""
        names = game.tables.names
        return {
            "top": names[game.tops[SOLITAIRE_PILE]] or None,
            "under": [names[card] for card in game.under],
        }

    def read(self, reader: CastleReader, game: CastleGame) -> None:
        table = reader.table(reader.position, self.key, "", ("top", "under"))
        top = reader.component(table.get("top", ""), "solitaire.top", ("solitaire",))
        game.lay_on_top(SOLITAIRE_PILE, top)
        game.under = tuple(reader.listed(table, "under", "solitaire.", ("solitaire",)))

    def places(self, game: CastleGame) -> list[tuple[int, str]]:
        """The visible cards; unseen ones belong to the deck."""
        return [
            (game.tops[SOLITAIRE_PILE], "solitaire.top"),
            *[(card, "solitaire.under") for card in game.under],
        ]

    def ignores_colour(self, game: CastleGame, space: int, colour: int) -> bool:
        """The rival lays a die on the space that a card shows, whatever its colour (S-2, S-4)."""
        cards = [solitaire(game, number) for number in game.tables.kinds["solitaire"]]
        return any(card.colour == colour and space in card.targets for card in cards)

    def faults(self, game: CastleGame) -> list[str]:
        """What the rival cannot have (S-2), a deck without its visible card (S-3), a turn (S-5)."""
        return self._rivals_goods(game) + self._hidden_top(game) + _turn(game)

    def _rivals_goods(self, game: CastleGame) -> list[str]:
        """A rival has coins, points, members and influence, and nothing else (S-2)."""
        rival = game.seats
        where = f"clans[{rival}]"
        found = [
            f"{where}.{GOOD_NAMES[good]}: the rival has none (S-2)"
            for good in game.rules.goods
            if good not in RIVAL_GOODS and game.has(rival, good)
        ]
        if game.action_card[rival] or game.lanterns[rival]:
            found.append(f"{where}.lantern: the rival has no cards (S-2)")
        if any(game.domain_dice[rival * 4 : rival * 4 + 4]):
            found.append(f"{where}.dice: the rival has no domain (S-2)")
        return found

    def _hidden_top(self, game: CastleGame) -> list[str]:
        """While there are unseen cards, one lies visible on them (S-3)."""
        unseen = len(game.unseen[SOLITAIRE_PILE])
        if game.tops[SOLITAIRE_PILE] or not unseen:
            return []
        return [f"solitaire.top: no card lies visible on {unseen} unseen ones (S-3)"]


def _turn(game: CastleGame) -> list[str]:
    """The rival's turn: the actions that are left, and above them a choice of the player (S-5)."""
    kinds = (RivalActions, RivalChoice)
    asked = [kind for step in game.stack for kind in kinds if isinstance(step, kind)]
    if not asked:
        return []
    if len(asked) < len(game.stack) or asked not in ([kinds[0]], [kinds[1]], [*kinds]):
        return ["pending: in the rival's turn its actions are done one after the other (S-5)"]
    return [] if game.turn else ["turn: a turn is pending that has not begun (B-2.1)"]
