"""What holds for the drawings of every ruleset and number of seats, over play."""

import re

import pytest
from himeji import render, rules

from tests.render.test_svg import boxes, overlapping, parsed, titles, words
from tests.rules.playing import every_table, play, policy

SEEDS = range(3)


def shown(table, every=9):
    """Positions of several games, one in `every` decisions, the first and the last included."""
    for seed in SEEDS:
        game = table.begin(seed)
        for number, _ in enumerate(play(game, policy(seed))):
            if number % every == 0:
                yield game
        yield game


@every_table
def test_no_line_is_wider_than_100_columns_and_nothing_is_cut_off(table):
    for game in shown(table):
        drawn = render.text(game)
        assert max(map(len, drawn.splitlines())) <= 100
        assert "…" not in drawn


@every_table
def test_colour_adds_codes_and_changes_no_character(table):
    for game in shown(table, every=40):
        coloured, plain = render.text(game, colour=True), render.text(game)
        assert "\x1b" not in plain
        assert "\x1b[" in coloured
        lines = re.sub(r"\x1b\[[0-9;]*m", "", coloured).splitlines()
        assert [line.rstrip() for line in lines] == plain.splitlines()


@every_table
def test_the_question_its_answers_and_the_result_are_written(table):
    for game in shown(table, every=20):
        drawn = render.text(game)
        if game.over:
            best = game.ranking().index(1)
            assert f"won with {game.scores()[best]} points" in drawn
            continue
        question = f"seat {game.to_move} is asked to {game.stack[-1].question(game)}"
        assert question in drawn
        assert question[1:] in " ".join(words(parsed(game)))
        for action in game.legal():
            assert f"{action} {rules.action_text(table.ruleset, action)}" in drawn


@every_table
def test_drawings_depend_on_the_position_alone(table):
    for game in shown(table, every=40):
        again = rules.loads(game.dumps())
        assert render.text(again) == render.text(game)
        assert render.svg(again) == render.svg(game)


@every_table
def test_no_text_of_a_picture_is_cut_off_or_runs_into_another(table):
    for game in shown(table, every=15):
        root = parsed(game)
        assert not [text for text in words(root) if "…" in text]
        found = list(boxes(root))
        assert list(overlapping(found)) == []
        assert max(box[2] for box in found) < float(root.get("width"))
        assert max(box[3] for box in found) < float(root.get("height"))


@every_table
def test_reconstructions_are_marked_and_explained_where_there_are_any(table):
    described = rules.ruleset(table.ruleset).describe_components()
    made_up = {each.id for each in described if each.reconstructed}
    for game in shown(table, every=40):
        root = parsed(game)
        below = render.text(game).split("\n\n", 1)[1]  # the question and its answers stand above
        drawn = [text for text in words(root) if "·" not in text and "asked" not in text]
        for text in (below, " ".join([*drawn, *titles(root)[1:]])):
            assert ("†" in text) is bool(made_up)
            for component in made_up:
                assert not re.search(rf"\b{component}(?! †)(?![\w-])", text), component


def fullest(game):
    """The longest lines: every action card in turn, every ceremony tile, geishas everywhere."""
    tables = game.tables
    for kind in ("steward", "diplomat", "start-action"):
        for card in tables.kinds[kind]:
            twin = game.clone()
            twin.action_card = [card] * twin.clans
            yield twin
    for tile in tables.kinds.get("ceremony", ()):
        twin = game.clone()
        twin.ceremonies = (tile,) * len(twin.ceremonies)
        twin.geishas = (2,) * len(twin.geishas)
        yield twin


@pytest.mark.parametrize("ruleset", ["base", "matcha"])
def test_the_longest_lines_of_four_seats_are_not_cut_off(ruleset):
    game = rules.new_game(ruleset, 4, seed=1)
    while game.drafting:
        game.play(game.answers[0])
    for twin in fullest(game):
        drawn = render.text(twin)
        assert "…" not in drawn, drawn
        assert max(map(len, drawn.splitlines())) <= 100
