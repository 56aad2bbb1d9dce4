"""Reading the lists of a position message: what does not fit is remembered, and reading goes on."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from google.protobuf.message import Message

from himeji.rules.components import Box
from himeji.rules.game import Game
from himeji.v1.position_pb2 import Position


class Deck(NamedTuple):
    """A pile of a family, and the fields with its unseen cards and its visible top card."""

    pile: int
    kind: str
    unseen: str
    top: str = ""


class MessageReader:
    """Reads lists of numbers and of components by the names of their fields."""

    def __init__(self, message: Message, box: Box[Any]) -> None:
        self.source = message
        self.box = box
        self.reasons: list[str] = []

    def numbers(self, field: str, length: int, most: int) -> list[int]:
        """A list of that length with numbers from 0 to `most`."""
        found = list(getattr(self.source, field))
        if len(found) != length:
            self.reasons.append(f"{field}: {len(found)} numbers instead of {length}")
        elif not all(0 <= number <= most for number in found):
            self.reasons.append(f"{field}: a number that is not from 0 to {most}")
        else:
            return found
        return [0] * length

    def number(self, field: str, most: int) -> int:
        """A number from 0 to `most`."""
        found: int = getattr(self.source, field)
        if 0 <= found <= most:
            return found
        self.reasons.append(f"{field}: {found} is not from 0 to {most}")
        return 0

    def permutation(self, field: str, clans: int) -> list[int]:
        found = list(getattr(self.source, field))
        if sorted(found) != list(range(clans)):
            self.reasons.append(f"{field}: expected each of the clans 0 to {clans - 1}")
            return list(range(clans))
        return found

    def cards(
        self, field: str, length: int, kinds: Sequence[str], *, gaps: bool = False
    ) -> list[int]:
        """Components of certain kinds; 0 is none, where gaps are allowed."""
        box = self.box
        found = self.numbers(field, length, len(box.components))
        for number in found:
            if number == 0 and not gaps:
                self.reasons.append(f"{field}: a component is missing")
            elif number and box.of(number).kind not in kinds:
                self.reasons.append(f"{field}: {box.names[number]} is not a {' or '.join(kinds)}")
        return found

    def each(self, field: str, kinds: Sequence[str], *, gaps: bool = False) -> list[int]:
        """One component of each of the kinds, in their order; 0 is none, where gaps are allowed."""
        found = self.cards(field, len(kinds), kinds, gaps=gaps)
        for number, kind in zip(found, kinds, strict=True):
            if number and self.box.of(number).kind != kind:
                self.reasons.append(f"{field}: {self.box.names[number]} is not a {kind}")
        return found

    def card(self, field: str, kind: str) -> int:
        """One component of a kind, or none."""
        number: int = getattr(self.source, field)
        if number and number not in self.box.kinds.get(kind, ()):
            self.reasons.append(f"{field}: not a {kind}")
            return 0
        return number

    def unseen(self, field: str, kinds: Sequence[str]) -> tuple[int, ...]:
        """A set of components of certain kinds, ascending."""
        return tuple(sorted(self.cards(field, len(getattr(self.source, field)), kinds)))

    def grouped(self, field: str, groups: int, values: Sequence[int]) -> list[tuple[int, ...]]:
        """Values by the group that a parallel list names for each, in their order."""
        found: list[tuple[int, ...]] = [()] * groups
        for group, value in zip(getattr(self.source, field), values, strict=True):
            if 0 <= group < groups:
                found[group] = (*found[group], value)
            else:
                self.reasons.append(f"{field}: there is no number {group}")
        return found


def read_pending(game: Game, position: Position) -> list[str]:
    """Put the pending steps of a message on the stack; the reasons why some are none."""
    reasons = []
    game.over = not position.HasField("to_move")
    for number, pending in enumerate(position.pending):
        seat = pending.seat if pending.HasField("seat") else -1
        try:
            step = game.ruleset.codec.from_parts(pending.kind - 1, seat, list(pending.arguments))
        except ValueError:
            reasons.append(f"pending[{number}]: not a step of {game.ruleset.name}")
            continue
        if step.seat >= game.seats:
            reasons.append(f"pending[{number}]: there is no seat {step.seat}")
        game.stack.append(step)
    return reasons
