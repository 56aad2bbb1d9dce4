"""Ladders as configuration: what every arena has, and what a file adds or changes."""

from types import SimpleNamespace

import pytest
from himeji import rules
from himeji.rules.errors import UnknownLadder
from himeji.wire.clock import LADDER, Clock
from himeji_server.ladder import ladders
from himeji_server.startup_errors import StartRefusedError


@pytest.fixture
def read(tmp_path):
    def from_text(text):
        file = tmp_path / "ladders.toml"
        file.write_text(text)
        return ladders.read(file)

    return from_text


def test_every_ruleset_and_seat_count_has_a_ladder():
    found = ladders.read(None)
    for ruleset in rules.RULESETS.values():
        seats = [found[name].seats for name in found.names if found[name].ruleset == ruleset.name]
        assert set(seats) == set(ruleset.seat_counts)
    assert found["base-3p"].seats == 3
    assert dict(found["base-3p"].options) == rules.ruleset("base").check_options({})


def test_a_difficulty_is_a_ladder_of_its_own_and_a_single_seat_count_is_not_named(monkeypatch):
    solo = SimpleNamespace(
        name="solo",
        seat_counts=(1,),
        choices={"difficulty": ("easy", "hard"), "layout": ("first", "random")},
        check_options=lambda given: {"layout": "first"} | given,
    )
    duel = SimpleNamespace(name="duel", seat_counts=(2,), choices={}, check_options=dict)
    monkeypatch.setattr(rules, "RULESETS", {"solo": solo, "duel": duel})
    found = ladders.defaults()
    assert set(found) == {"solo-easy", "solo-hard", "duel"}
    assert found["solo-hard"].options == {"layout": "first", "difficulty": "hard"}
    assert found["duel"].options == {}


def test_a_file_changes_a_ladder_and_adds_others(read):
    found = read(
        """
        [base-2p]
        bank = 5
        increment = 0.25

        [blitz]
        ruleset = "base"
        seats = 4
        bank = 1.5
        ready = 3
        trusted = true
        accepting = false
        strike_limit = 1
        """
    )
    assert found["base-2p"].clock == Clock(5_000, 250)
    assert found["base-2p"].ready == ladders.Ladder("", "", 2).ready
    blitz = found["blitz"]
    assert blitz.clock == Clock(1_500, LADDER.increment_ms)
    assert (blitz.seats, blitz.ready, blitz.strike_limit) == (4, 3_000, 1)
    assert blitz.trusted
    assert not blitz.accepting
    assert "base-3p" in found.names
    assert "blitz" not in found.shared, "it is closed"
    assert "base-2p" in found.shared
    assert "solo-hard" not in found.shared, "nobody meets anybody there"


def test_a_file_may_be_all_there_is(read):
    assert read('only = true\n[one]\nruleset = "base"').names == ["one"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[base-2p", "cannot be read"),
        ("only = true", "names no ladder"),
        ("[x]\nseats = 2", "it needs a ruleset"),
        ('[x]\nruleset = "chess"', "there is no ruleset 'chess'"),
        ("[base-2p]\nseats = 9", "played by 2, 3, 4 seats, not 9"),
        ("[base-2p]\nbank = 0", "more than 0"),
        ("[base-2p]\ncolour = 1", "colour is not one of"),
        ('[base-2p]\nseats = "two"', "seats is not one of"),
        ("[base-2p.options]\nmusic = 1", "no option 'music'"),
        ("[Base]\nseats = 2", "small letters"),
        ("base = 1", "a ladder is a table"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_sentence(read, text, why):
    with pytest.raises(StartRefusedError, match=why):
        read(text)


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    with pytest.raises(StartRefusedError, match=r"nothing\.toml cannot be read"):
        ladders.read(tmp_path / "nothing.toml")


def test_an_unknown_ladder_is_refused():
    with pytest.raises(UnknownLadder, match="there is no ladder x"):
        _ = ladders.read(None)["x"]
