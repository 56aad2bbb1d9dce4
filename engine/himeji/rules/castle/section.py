"""What positions of a ruleset hold beyond those of the base game: each section has its own key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from himeji.rules.castle.reader import CastleReader


class Section:
    """A part of the state under one key of the JSON form."""

    key = ""

    def describe(self, game: Any) -> Any:
        """The part in readable form."""
        raise NotImplementedError

    def read(self, reader: CastleReader, game: Any) -> None:
        """Read it into the game; what cannot be read is a fault of the reader."""
        raise NotImplementedError

    def describe_clan(self, game: Any, clan: int) -> dict[str, Any]:
        """What a clan has more than in the base game."""
        return {}

    def read_clan(
        self, reader: CastleReader, game: Any, clan: int, held: Mapping[str, Any]
    ) -> None:
        """Read that into the game."""

    def places(self, game: Any) -> list[tuple[int, str]]:
        """Every component that lies in the section, with its place."""
        raise NotImplementedError

    def ignores_colour(self, game: Any, space: int, colour: int) -> bool:
        """Whether a die may lie on a space that does not take its colour."""
        return False

    def faults(self, game: Any) -> list[str]:
        """Every reason why the section is impossible."""
        return []
