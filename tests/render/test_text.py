"""The drawing for terminals."""

import re
from pathlib import Path

import pytest
from himeji import render, rules
from himeji.render.castle.facts import bridge_side, solitaire_top
from himeji.render.page_blocks import TIMES
from himeji.render.palette import CLANS
from himeji.rules.chance import seeded

from tests.rules.playing import every_castle_table

GOLDEN = Path(__file__).with_name("golden") / "base-2.txt"


def plain(drawn):
    return re.sub(r"\x1b\[[0-9;]*m", "", drawn)


def test_a_fixed_position_is_drawn_as_the_golden_file_shows(documented):
    assert render.text(documented["position"]()) == GOLDEN.read_text(encoding="utf-8")


@every_castle_table
def test_no_line_is_wider_than_100_columns(walk, table):
    for seed in range(3):
        for game in walk(table, seed):
            widest = max(render.text(game).splitlines(), key=len)
            assert len(widest) <= 100, widest


@every_castle_table
def test_nothing_is_cut_off_in_play(walk, table):
    for seed in range(3):
        for game in walk(table, seed):
            assert "…" not in render.text(game)


def test_a_crowded_board_is_neither_too_wide_nor_cut_off(crowd):
    drawn = render.text(crowd)
    assert max(map(len, drawn.splitlines())) <= 100
    assert "…" not in drawn
    assert "●0*2 ■1*2 ▲2*2 ◆3*2".replace("*", TIMES) in drawn


def test_no_ansi_codes_unless_colour_is_wanted(walk):
    for game in walk(3, seed=2):
        assert "\x1b" not in render.text(game)


def test_colour_adds_codes_and_changes_no_character(walk):
    for game in walk(4, seed=2):
        coloured = render.text(game, colour=True)
        assert "\x1b[" in coloured
        lines = [line.rstrip() for line in plain(coloured).splitlines()]
        assert lines == render.text(game).splitlines()


def test_a_drawing_depends_on_the_position_alone(walk):
    for game in walk(2, seed=5, every=20):
        again = rules.loads(game.dumps())
        assert render.text(again) == render.text(game)


@every_castle_table
def test_every_card_and_yard_tile_in_play_is_named(walk, table):
    for game in walk(table, seed=4, every=15):
        drawn, of = render.text(game), game.tables.of
        lanterns = [card for area in game.lanterns for card in area]
        shown = [*game.rooms, *game.gardens, *game.yard_tiles, *game.pairs, *lanterns]
        shown += [card for section in game.rules.sections for card, _ in section.places(game)]
        for number in (*shown, game.daimyo, *game.action_card):
            assert not number or of(number).id in drawn


def test_the_question_and_its_answers_are_written(walk):
    for game in walk(2, seed=1):
        drawn = render.text(game)
        if game.over:
            winner = game.ranking().index(1)
            assert f"seat {winner} has won with {game.scores()[winner]} points" in drawn
            continue
        assert f"seat {game.to_move} is asked to {game.stack[-1].question(game)}" in drawn
        for action in game.legal():
            assert f"{action} {rules.action_text('base', action)}" in drawn


def test_the_lone_die_lies_at_its_end_of_the_bridge():
    game = rules.new_game("base", seats=2, seed=1)
    game.left, game.centre, game.right = [0, 0, 0, 0], [(), (2, 2), (), ()], [5, 0, 0, 0]
    lines = {line.split()[0]: line for line in render.text(game).splitlines() if line.strip()}
    assert "☼ [ ]          [5]" in lines["coral"]
    assert "☼ [ ]  [2] [2] [ ]" in lines["black"]


def test_a_stacked_die_is_written_over_the_die_below(crowd):
    assert "coral 5 under black 4" in render.text(crowd)


def test_the_upper_influence_marker_stands_in_the_upper_line():
    game = rules.new_game("base", seats=3, seed=1)
    game.markers = (1, 2, 0)
    lines = render.text(game).splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("PASSAGE OF TIME"))
    marks = [lines[at + n].strip() for n in (1, 2, 3)]
    assert marks == [f"{CLANS[seat].mark}{seat}" for seat in (0, 2, 1)]


def test_the_starting_pairs_are_shown_while_they_can_be_picked():
    game = rules.new_game("base", seats=3, seed=1)
    drawn = render.text(game)
    for card in game.pairs:
        assert game.tables.of(card).id in drawn
    while game.drafting:
        game.apply(game.legal()[-1])
    assert "STARTING PAIRS" not in render.text(game)


def test_the_scores_add_up_on_the_page(walk):
    for game in walk(4, seed=6, every=30):
        rows = [line for line in render.text(game).splitlines() if re.match(r".\d seat \d ", line)]
        assert len(rows) == 4
        for row in rows:
            *points, total, _rank = map(int, re.findall(r"\d+", row.split("seat", 1)[1][2:]))
            assert sum(points) == total


@pytest.mark.parametrize(("ruleset", "unseen"), [("solo", 8), ("matcha-solo", 11)])
def test_the_top_solitaire_card_is_shown_from_the_shuffle_on(ruleset, unseen):
    game = rules.new_game(ruleset, seats=1, seed=1, options={"difficulty": "easy"})
    top = solitaire_top(game)
    drawn = render.text(game)
    assert f"top: {bridge_side(game, top)}  {top.id} †" in drawn
    assert f"{unseen} unseen, then" in drawn
    picture = render.svg(game)
    assert bridge_side(game, top) in picture
    assert f"{unseen} unseen cards, then" in picture


@pytest.mark.parametrize(("good", "room"), [("coin", 0), ("vp", 3)])
def test_a_reconstructed_component_is_marked_and_explained(edition, good, room):
    back = f'lantern = "1 {good}"\nsource = '
    game = edition((f'{back}"bga-log"', f'{back}"reconstructed"')).begin(2, seeded(1), {})
    drawn = render.text(game)
    assert f"{game.tables.of(game.rooms[room]).id} †" in drawn
    assert "† reconstructed, in whole or in part" in drawn
    assert "†" not in render.text(rules.new_game("base", seats=2, seed=1))


def test_control_characters_in_a_name_cannot_reach_the_terminal(edition):
    game = edition(('id = "daimyo-0', 'id = "\\u001b[2J\\r\\ndaimyo-0')).begin(2, seeded(1), {})
    drawn = render.text(game)
    assert "daimyo-0" in drawn
    assert not set(drawn) & set("\x1b\r")
    assert max(map(len, drawn.splitlines())) <= 100


def test_a_name_of_any_length_is_cut_to_the_page(edition):
    game = edition(('id = "daimyo-0', f'id = "{"long" * 60}-0')).begin(2, seeded(1), {})
    drawn = render.text(game)
    assert "…" in drawn
    assert max(map(len, drawn.splitlines())) <= 100
