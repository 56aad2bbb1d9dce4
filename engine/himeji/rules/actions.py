"""The action table: small numbers, frozen per ruleset, each with one text in the game's words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from himeji.rules.constants import CHOOSE, DONE, EXCHANGE_RESOURCE, GOOD_NAMES, PERFORM
from himeji.rules.errors import UnknownAction


class ActionTable:
    """Ids and texts, both unique. The same id means the same thing in every position."""

    def __init__(self, ruleset: str, texts: Mapping[int, str]) -> None:
        self.ruleset = ruleset
        self.texts: dict[int, str] = dict(sorted(texts.items()))
        self._ids: dict[str, int] = {text: number for number, text in self.texts.items()}
        if len(self._ids) != len(self.texts):
            raise ValueError(f"two actions of {ruleset} share a text")

    def text(self, action: int) -> str:
        """What the action says, for example "take coral left"."""
        if action not in self.texts:
            raise UnknownAction(
                f"{self.ruleset} has no action {action}",
                {"action": str(action), "ruleset": self.ruleset},
            )
        return self.texts[action]

    def id(self, text: str) -> int:
        """The id of an action's text."""
        if text not in self._ids:
            raise UnknownAction(f"{self.ruleset} has no action “{text}”", {"ruleset": self.ruleset})
        return self._ids[text]


Block = tuple[int, str, Sequence[str]]
"""The first id of several actions, their text with a gap, and what fills the gap."""
COMMON_BLOCKS: Final[tuple[Block, ...]] = (
    (EXCHANGE_RESOURCE, "exchange 2 seals for 1 {}", GOOD_NAMES[:3]),
    (CHOOSE, "choose {}", GOOD_NAMES[:3]),
)
COMMON_TEXTS: Final = {DONE: "done", PERFORM: "perform"}


def spread(blocks: Iterable[Block], texts: Mapping[int, str]) -> dict[int, str]:
    """A table of actions: the common ones, these blocks, and these single ones."""
    return COMMON_TEXTS | dict(texts) | filled((*COMMON_BLOCKS, *blocks))


def filled(blocks: Iterable[Block]) -> dict[int, str]:
    """The texts of blocks, by their ids."""
    return {
        first + number: text.format(name)
        for first, text, names in blocks
        for number, name in enumerate(names)
    }
