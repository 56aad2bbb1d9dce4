"""The rules of the games: standard library only, no I/O but their own data, no clock.

>>> from himeji import rules
>>> game = rules.new_game("base", seats=2, seed=7)
>>> game.apply(game.legal()[0])
"""

from himeji.rules.chance import Chance, Fast, Keyed, Scripted, seeded
from himeji.rules.game import Event, Game
from himeji.rules.mirror import Mirror
from himeji.rules.registry import (
    RULESETS,
    action_id,
    action_text,
    from_json,
    loads,
    new_game,
    ruleset,
)

__all__ = [
    "RULESETS",
    "Chance",
    "Event",
    "Fast",
    "Game",
    "Keyed",
    "Mirror",
    "Scripted",
    "action_id",
    "action_text",
    "from_json",
    "loads",
    "new_game",
    "ruleset",
    "seeded",
]
