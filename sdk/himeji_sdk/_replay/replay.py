"""A replay: all it takes to play a game again, as a file that any tool can read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from google.protobuf import json_format
from himeji.rules.errors import InvalidRequest, VersionMismatch
from himeji.v1 import game_service_pb2
from himeji.wire.verification import checks

from himeji_sdk._replay.steps import Moment, moments
from himeji_sdk._replay.writer import REPLAY_FORMAT


class Replay:
    """A game's log, its chance results and, after its end, the key they follow from."""

    def __init__(self, message: game_service_pb2.Replay) -> None:
        self.message = message
        """The replay as a message of the contract."""

    @classmethod
    def parse(cls, text: str) -> Replay:
        """Read a replay from its JSON form, without what a newer arena adds to it.

        Raises InvalidRequest, and VersionMismatch for a newer format.
        """
        message = game_service_pb2.Replay()
        try:
            json_format.Parse(text, message, ignore_unknown_fields=True)
        except json_format.ParseError as error:
            raise InvalidRequest(f"this is no replay: {error}") from None
        if message.format > REPLAY_FORMAT:
            raise VersionMismatch(
                f"the replay was made by a newer arena, in format {message.format}: update himeji"
            )
        if message.format != REPLAY_FORMAT:
            raise InvalidRequest(
                f"this is no replay of format {REPLAY_FORMAT} (it says {message.format})"
            )
        return cls(message)

    @classmethod
    def load(cls, path: Path | str) -> Replay:
        """Read a replay file; raises InvalidRequest, VersionMismatch, OSError."""
        try:
            return cls.parse(Path(path).read_text(encoding="utf-8"))
        except UnicodeDecodeError:
            raise InvalidRequest(f"{path} is no replay: it is not text") from None

    def save(self, path: Path | str) -> None:
        """Write the replay as a file."""
        Path(path).write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        """The replay in its JSON form."""
        return json_format.MessageToJson(self.message, indent=1) + "\n"

    @property
    def game_id(self) -> str:
        """The id of the game."""
        return self.message.game.game_id

    def moments(self) -> Iterator[Moment]:
        """The positions of the game, from its set-up to where the replay ends.

        Raises InvalidRequest where the replay contradicts itself, and VersionMismatch for a game by
        other rules than this engine's or a log of a newer arena.
        """
        return moments(self.message)

    def verify(self) -> Iterator[str]:
        """Check everything, a sentence at a time for what was found true.

        Raises InvalidRequest at the first thing that is wrong (its detail "check" names the
        check), and VersionMismatch for a game by other rules than this engine's or of a newer
        arena.
        """
        return checks(self.message)
