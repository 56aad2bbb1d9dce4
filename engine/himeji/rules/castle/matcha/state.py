"""The state of a game with Matcha: what the castle family has, and the extension board."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from himeji.rules.castle.constants import IN_DOMAIN, MEMBERS
from himeji.rules.castle.matcha.components import TEA_GARDEN, TeaGarden
from himeji.rules.castle.matcha.constants import GEISHA, GEISHA_PLACES
from himeji.rules.castle.state import CastleGame
from himeji.rules.chance import Chance
from himeji.rules.packing import TupleField

if TYPE_CHECKING:
    from himeji.rules.castle.ruleset import CastleRuleset

GEISHAS_AT_HOME: Final = (MEMBERS, *[0] * (GEISHA_PLACES - 1))
MATCHA_STATE: Final = (
    TupleField("pair_tiles"),
    TupleField("geishas"),
    TupleField("lilies"),
    TupleField("ceremonies"),
    TupleField("domain_tiles"),
)


class MatchaGame(CastleGame):
    """A game with Matcha. Its own fields are tuples: they are replaced, and clones share them."""

    def __init__(self, rules: CastleRuleset, seats: int, clans: int, chance: Chance) -> None:
        super().__init__(rules, seats, clans, chance)
        self.tea_garden: TeaGarden = rules.tables.boards[TEA_GARDEN]
        self.pair_tiles: tuple[int, ...] = ()  # the ceremony tile of each starting pair
        self.geishas: tuple[int, ...] = GEISHAS_AT_HOME * clans  # seat * places + place
        self.lilies: tuple[int, ...] = ()  # water lilies in the pond
        self.ceremonies: tuple[int, ...] = ()  # tiles of the tea house rooms and the overlook
        self.domain_tiles: tuple[int, ...] = (0,) * clans  # ceremony tile, 0 is none yet

    def members_out(self, seat: int, row: int) -> int:
        """How many members have left a row of the domain; geishas are the fourth (M-5.6)."""
        if row == GEISHA:
            return MEMBERS - self.geishas[seat * GEISHA_PLACES + IN_DOMAIN]
        return super().members_out(seat, row)

    def end_draft(self) -> None:
        """Left-over tiles leave the game with their pairs (M-3.6)."""
        super().end_draft()
        self.pair_tiles = ()

    def clone(self) -> MatchaGame:
        """An independent copy, chance included, without the log of events."""
        twin = MatchaGame(self.rules, self.seats, 0, self.chance.clone())
        self.copy_to(twin)
        twin.pair_tiles = self.pair_tiles
        twin.geishas = self.geishas
        twin.lilies = self.lilies
        twin.ceremonies = self.ceremonies
        twin.domain_tiles = self.domain_tiles
        return twin
