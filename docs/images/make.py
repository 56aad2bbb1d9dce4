"""Draw docs/images/position.svg: a position from the middle of a game that always goes the same.

Run `python docs/images/make.py` from a checkout after a change of the drawing or of the rules.
"""

from __future__ import annotations

from pathlib import Path

from himeji import render, rules

PICTURE = Path(__file__).with_name("position.svg")
EAGER = ("climb", "audience", "garden", "train", "daimyo", "do ", "perform", "row")


def position(seats: int = 2, seed: int = 29, decisions: int = 80) -> rules.Game:
    """A game in which everybody sends members out whenever that is possible."""
    game = rules.new_game("base", seats=seats, seed=seed)
    for number in range(decisions):
        legal = game.legal()
        texts = {action: rules.action_text("base", action) for action in legal}
        eager = [action for action in legal if texts[action].startswith(EAGER)]
        choices = eager or [action for action in legal if texts[action] != "done"]
        game.apply(choices[number % len(choices)])
    return game


if __name__ == "__main__":
    PICTURE.write_text(render.svg(position()), encoding="utf-8")
