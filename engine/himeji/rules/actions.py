"""The action table: small numbers, frozen per ruleset, each with one text in the game's words."""

from __future__ import annotations

from collections.abc import Mapping

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
