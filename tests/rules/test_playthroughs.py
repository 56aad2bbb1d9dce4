"""Playthroughs to read, counts of decision sequences, and the action tables: all pinned.

`pytest tests/rules/test_playthroughs.py --update-golden` writes the files in golden/ anew; read
what changed before you keep it. Action ids never move, so an existing line of a table is kept.
"""

import importlib
import textwrap
from collections import Counter
from itertools import groupby
from pathlib import Path

import pytest
from himeji import rules

from tests.rules.playing import TABLES, every_table

GOLDEN = Path(__file__).parent / "golden"
SEED = 7
DECISIONS = 40
PERFT_DEPTH = 6
PERFT_STARTS = (0, 12, 35)  # decisions played before the count begins
UPDATE = "if this is meant, write it anew with --update-golden and read the difference"


def steady():
    """The answer given least often so far, the highest id first: no generator, a varied game."""
    given = Counter()

    def choose(legal):
        action = min(legal, key=lambda answer: (given[answer], -answer))
        given[action] += 1
        return action

    return choose


@pytest.fixture
def golden(update_golden):
    """Compares a text with the golden file of that name, or writes it."""

    def compare(name, text):
        path = GOLDEN / name
        if update_golden:
            path.write_text(text, encoding="utf-8")
        assert path.exists(), f"golden/{name} is missing: write it with --update-golden"
        assert text == path.read_text(encoding="utf-8"), f"golden/{name} differs: {UPDATE}"

    return compare


# --- playthroughs -----------------------------------------------------------------------------


@every_table
def test_the_playthrough_is_the_one_that_was_read_and_found_right(table, golden):
    golden(f"playthrough-{table}.txt", playthrough(table))


def begin(table):
    """The game of a table with the standard options."""
    return rules.new_game(table.ruleset, table.seats, seed=SEED)


def playthrough(table):
    family = rules.ruleset(table.ruleset).family
    text = importlib.import_module(f"tests.rules.{family}.playthrough_text")
    game, choose = begin(table), steady()
    lines = [f"{table.ruleset}, {table.seats} seats, seed {SEED}: the first {DECISIONS} decisions"]
    lines += ["", "Set-up", *told(text.tell_events(game, game.events_since(0)))]
    lines += ["", "Position", *told(text.tell_position(game)), "", "Play"]
    for number in range(1, DECISIONS + 1):
        action, count = choose(game.legal()), len(game.events_since(0))
        lines += ["", f"{number}. seat {game.to_move} is asked to {question(game)}"]
        lines += told([" | ".join(choices(table, game.legal(), action))])
        game.apply(action)
        lines += told(text.tell_events(game, game.events_since(count + 1)), "    > ")
    lines += ["", "Position", *told(text.tell_position(game)), ""]
    return "\n".join(lines)


def question(game):
    return game.stack[-1].question(game)


def choices(table, legal, chosen):
    """The answers; those that differ in their last word share the others: "take coral left, right".

    The chosen one stands in brackets.
    """
    texts = [(action, rules.action_text(table.ruleset, action).rpartition(" ")) for action in legal]
    for start, group in groupby(texts, key=lambda text: text[1][0]):
        ends = [f"[{word}]" if action == chosen else word for action, (_, _, word) in group]
        yield " ".join([*start.split(), ", ".join(ends)])


def told(texts, head="    "):
    for text in texts:
        yield from textwrap.wrap(
            text,
            96,
            initial_indent=head,
            subsequent_indent=" " * (len(head) + 2),
            break_on_hyphens=False,
        )


# --- counts -----------------------------------------------------------------------------------


def perft(game, depth):
    """How many sequences of that many decisions there are (fewer decisions if the game ends)."""
    if game.over:
        return 1
    if depth == 1:
        return len(game.legal())
    count = 0
    for action in game.legal():
        twin = game.clone()
        twin.apply(action)
        count += perft(twin, depth - 1)
    return count


def counts():
    yield "# ruleset seats seed decisions-before: sequences of 1, 2, ... decisions"
    for table in TABLES:
        game, choose, played = begin(table), steady(), 0
        for start in PERFT_STARTS:
            while played < start:
                game.apply(choose(game.legal()))
                played += 1
            found = [perft(game, depth) for depth in range(1, PERFT_DEPTH + 1)]
            yield f"{table.ruleset} {table.seats} {SEED} {start}: {' '.join(map(str, found))}"


def test_the_numbers_of_decision_sequences_are_the_pinned_ones(golden):
    golden("perft.txt", "\n".join([*counts(), ""]))


# --- action tables ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", rules.RULESETS)
def test_action_ids_never_move(name, update_golden):
    path = GOLDEN / f"actions-{name}.txt"
    now = {str(n): text for n, text in rules.ruleset(name).actions.texts.items()}
    pinned = (
        dict(line.split(" ", 1) for line in path.read_text().splitlines()) if path.exists() else {}
    )
    moved = {number: text for number, text in pinned.items() if now.get(number) != text}
    assert not moved, f"these actions of {name} had another text or are gone: {moved}"
    if update_golden:
        pinned = now
        path.write_text("".join(f"{number} {text}\n" for number, text in now.items()))
    assert list(pinned.items()) == list(now.items()), f"new actions of {name}: {UPDATE}"


def test_every_golden_file_belongs_to_a_test():
    expected = {f"playthrough-{table}.txt" for table in TABLES} | {"perft.txt"}
    expected |= {f"actions-{name}.txt" for name in rules.RULESETS}
    assert {path.name for path in GOLDEN.iterdir()} == expected
