"""Every ruleset by its name, and the ways to begin or continue a game of any of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from himeji.rules.castle.base import base_ruleset
from himeji.rules.castle.matcha.matcha import matcha_ruleset
from himeji.rules.castle.matcha.matcha_solo import matcha_solo_ruleset
from himeji.rules.castle.solo.solo import solo_ruleset
from himeji.rules.chance import Chance, seeded
from himeji.rules.datafile import data_files, packaged
from himeji.rules.duel.duel import duel_ruleset
from himeji.rules.errors import BadComponents, InvalidRequest, UnknownRuleset
from himeji.rules.game import Game
from himeji.rules.packing import Unpacker
from himeji.rules.ruleset import Ruleset

MAKERS = (base_ruleset, solo_ruleset, matcha_ruleset, matcha_solo_ruleset, duel_ruleset)
RULESETS: dict[str, Ruleset] = {each.name: each for each in (make() for make in MAKERS)}


def replace_components(files: Mapping[str, str]) -> None:
    """Read every ruleset anew, with these texts instead of the packaged files of their names.

    All are checked before one is replaced; games that go on keep the rules they began with.
    """
    known = data_files()
    for name in files:
        if name not in known:
            raise BadComponents(
                f"{name}: there is no such data file (there are: {', '.join(known)})"
            )

    def read(name: str) -> str:
        return files[name] if name in files else packaged(name)

    RULESETS.update({each.name: each for each in [make(read) for make in MAKERS]})


def ruleset(name: str) -> Ruleset:
    """The ruleset of that name."""
    if name not in RULESETS:
        known = ", ".join(RULESETS)
        raise UnknownRuleset(
            f"there is no ruleset {name!r} (there are: {known})", {"ruleset": name}
        )
    return RULESETS[name]


def new_game(
    name: str,
    seats: int,
    *,
    seed: int | None = None,
    chance: Chance | None = None,
    options: Mapping[str, str] | None = None,
) -> Game:
    """Set up a game. Give a seed for a repeatable one, or a source of chance of your own."""
    return ruleset(name).begin(seats, _source(seed, chance, required=True), options or {})


def loads(data: bytes, *, seed: int | None = None, chance: Chance | None = None) -> Game:
    """The game that `Game.dumps` wrote; its future comes from the seed (0) or source given."""
    frame = Unpacker(data)
    rules = ruleset(frame.get_text())
    rules.check_revision(frame.get_text())
    return rules.read(bytes(frame.rest()), _source(seed, chance, required=False))


def from_json(
    position: str | Mapping[str, Any],
    *,
    seed: int | None = None,
    chance: Chance | None = None,
) -> Game:
    """The game of a position as `Game.to_json` writes it; its future comes from seed or source."""
    if isinstance(position, str):
        try:
            position = json.loads(position)
        except (ValueError, RecursionError) as problem:
            raise InvalidRequest(f"this position is not JSON: {problem}") from None
    if not isinstance(position, Mapping):
        raise InvalidRequest("a position is a JSON object")
    rules = ruleset(str(position.get("ruleset", "")))
    if "revision" in position:
        rules.check_revision(str(position["revision"]))
    return rules.parse(position, _source(seed, chance, required=False))


def action_text(name: str, action: int) -> str:
    """What an action of a ruleset says."""
    return ruleset(name).actions.text(action)


def action_id(name: str, text: str) -> int:
    """The action of a ruleset that says this."""
    return ruleset(name).actions.id(text)


def _source(seed: int | None, chance: Chance | None, *, required: bool) -> Chance:
    if seed is not None and chance is not None:
        raise InvalidRequest("give a seed or a source of chance, not both")
    if chance is not None:
        return chance
    if seed is None and required:
        raise InvalidRequest("give a seed or a source of chance")
    return seeded(seed or 0)
