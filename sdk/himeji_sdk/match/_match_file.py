"""The file in which a match keeps its groups, so that it can be interrupted and resumed.

It is lines of JSON: the match, then one group per line in the order of their numbers. A line that
was torn by a crash is dropped; its group is played again.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TextIO

from himeji import rules
from himeji.rules.errors import InvalidRequest

from himeji_sdk.match._match import Fault, GameResult, Group, Match

FILE_FORMAT: Final = 1


class MatchFile:
    """A match on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: TextIO | None = None

    def saved(self) -> Match | None:
        """The match that the file holds, None if there is no file yet; raises InvalidRequest."""
        if not self._path.exists():
            return None
        try:
            head = self._lines()[0]
            facts: dict[str, Any] = head["match"]
            match = Match(**facts | {"bots": tuple(facts["bots"])})
            form, revision = head["format"], head["revision"]
        except (IndexError, KeyError, TypeError):
            raise InvalidRequest(f"{self._path} is no record of a match") from None
        if form != FILE_FORMAT:
            raise InvalidRequest(f"{self._path} has format {form}, this is {FILE_FORMAT}")
        if revision != rules.ruleset(match.ruleset).revision:
            raise InvalidRequest(f"{self._path} is of another revision of {match.ruleset}")
        return match

    def groups(self) -> Iterator[Group]:
        """The groups that were played."""
        return (_group_from_json(line) for line in self._lines()[1:])

    def begin(self, match: Match) -> None:
        """Write the head of a new file, or cut a torn line off an old one; raises InvalidRequest.

        The file is locked until it is closed.
        """
        known = self._path.exists()
        self._file = self._path.open("a", encoding="utf-8")
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InvalidRequest(f"another command plays the match in {self._path}") from None
        if known:
            os.truncate(self._path, self._path.read_bytes().rfind(b"\n") + 1)
            return
        head = {
            "format": FILE_FORMAT,
            "match": asdict(match),
            "revision": rules.ruleset(match.ruleset).revision,
        }
        self._write(head)

    def add(self, group: Group) -> None:
        """Write a group that was played."""
        self._write(asdict(group))

    def close(self) -> None:
        """Close the file, and release its lock."""
        if self._file is not None:
            self._file.close()

    def _write(self, facts: dict[str, Any]) -> None:
        if self._file is None:
            raise RuntimeError("call begin() first")
        self._file.write(json.dumps(facts) + "\n")
        self._file.flush()

    def _lines(self) -> list[dict[str, Any]]:
        try:
            text = self._path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise InvalidRequest(f"{self._path} is no match: it is not text") from None
        whole = text.splitlines(keepends=True)
        if whole and not whole[-1].endswith("\n"):
            whole.pop()
        try:
            return [json.loads(line) for line in whole]
        except ValueError:
            raise InvalidRequest(f"{self._path} is no match: it is not lines of JSON") from None


def _group_from_json(facts: Mapping[str, Any]) -> Group:
    """The group that `dataclasses.asdict` wrote."""
    games = tuple(
        GameResult(
            tuple(game["lineup"]),
            tuple(game["scores"]),
            tuple(game["ranks"]),
            Fault(**game["fault"]) if game["fault"] else None,
        )
        for game in facts["games"]
    )
    return Group(facts["number"], facts["seed"], games)
