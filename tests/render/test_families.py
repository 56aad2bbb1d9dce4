"""Finding the drawing of a game, and showing it in notebooks."""

from dataclasses import replace

import pytest
from himeji import render, rules
from himeji.render import Drawing, Family
from himeji.rules import Game
from himeji.rules.chance import seeded
from himeji.rules.errors import Unsupported


@pytest.fixture
def foreign() -> Game:
    """A game of a family that nobody has drawn yet."""
    ruleset = replace(rules.ruleset("base"), name="pond", family="pond")
    return ruleset.begin(2, seeded(1), {})


def test_every_registered_ruleset_can_be_drawn():
    for ruleset in rules.RULESETS.values():
        assert ruleset.family in render.FAMILIES


@pytest.mark.parametrize("draw", [render.text, render.svg])
def test_a_family_without_a_drawing_is_refused_in_one_sentence(foreign, draw):
    with pytest.raises(Unsupported, match="pond is of the family 'pond', which has no drawing"):
        draw(foreign)


def test_a_new_family_is_one_line_in_the_table(foreign, monkeypatch):
    family = Family(
        lambda game, *, colour=False: f"{game.seats} {colour}",
        lambda game: f"<svg>{game.seats}</svg>",
    )
    monkeypatch.setitem(render.FAMILIES, "pond", family)
    assert render.text(foreign, colour=True) == "2 True"
    assert render.svg(foreign) == "<svg>2</svg>"


def test_a_drawing_shows_the_game_as_it_stands_now():
    game = rules.new_game("base", seats=2, seed=1)
    drawing = Drawing(game)
    before = drawing._repr_svg_()
    assert before == render.svg(game)
    assert str(drawing) == render.text(game)
    game.apply(game.legal()[0])
    assert drawing._repr_svg_() == render.svg(game) != before


class Shell:
    """The part of a notebook's shell that an extension talks to."""

    def __init__(self):
        self.display_formatter = self
        self.formatters = {"image/svg+xml": self}
        self.drawn = {}

    def for_type(self, kind, draw):
        self.drawn[kind] = draw


def test_the_notebook_extension_draws_every_game():
    shell = Shell()
    render.load_ipython_extension(shell)
    game = rules.new_game("base", seats=2, seed=1)
    (kind, draw), *rest = shell.drawn.items()
    assert isinstance(game, kind)
    assert draw(game) == render.svg(game)
    assert rest == []
