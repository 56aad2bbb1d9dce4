"""What was reconstructed is marked: in the data, in what is told of it, in drawings and counts."""

import json
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import CliRunner
from himeji import render
from himeji.rules.chance import seeded
from himeji.rules.datafile import data_files, packaged
from himeji.rules.errors import BadComponents
from himeji.rules.registry import MAKERS
from himeji.rules.ruleset import Ruleset
from himeji.wire.rulesets import to_ruleset, to_summary
from himeji_sdk import _cli as cli

Entry = dict[str, Any]
COUNTS = {
    "base": (0, 0),
    "solo": (9, 0),
    "matcha": (53, 4),
    "matcha-solo": (65, 4),
    "duel": (51, 1),
}
"""By ruleset: reconstructed components, reconstructed parts of the boards."""
REMARKS = ("note", "evidence", "disagreement", "also_in")
DOUBTS = re.compile(
    r"\b(reconstruct(ed|ion)|inferred|could be|guess(ed)?|read as|taken as|assumed|invented|made up"
    r"|not (public|pictured|known|shown))\b"
)

every_ruleset = pytest.mark.parametrize("make", MAKERS, ids=COUNTS)


def entries(text: str) -> Iterator[tuple[str, Entry]]:
    """Every entry of a data file, by the id of the component or of the part of the board."""
    for kind, found in tomllib.loads(text).items():
        for entry in found if isinstance(found, list) else [found]:
            coloured = f"{kind.removesuffix('-row')}-{entry.get('colour')}"
            yield entry.get("id", coloured if "colour" in entry else kind), entry


def is_marked(entry: Entry) -> bool:
    return entry.get("source") == "reconstructed" or bool(entry.get("reconstructed"))


def marked(text: str) -> set[str]:
    return {name for name, entry in entries(text) if is_marked(entry)}


def doubted(text: str) -> set[str]:
    """The entries whose remarks admit that something was made up."""
    remarks = {name: str([entry.get(key) for key in REMARKS]) for name, entry in entries(text)}
    return {name for name, said in remarks.items() if DOUBTS.search(said)}


def files_of(make: Callable[..., Ruleset]) -> dict[str, str]:
    """The data files that a ruleset reads."""
    read: dict[str, str] = {}
    make(lambda name: read.setdefault(name, packaged(name)))
    return read


def all_marked(make: Callable[..., Ruleset]) -> set[str]:
    return {name for text in files_of(make).values() for name in marked(text)}


# --- the data ---------------------------------------------------------------------------------


@pytest.mark.parametrize("file", data_files())
def test_an_entry_whose_remarks_admit_a_guess_is_marked(file):
    assert doubted(packaged(file)) - marked(packaged(file)) == set()


@pytest.mark.parametrize(
    "said",
    [
        "the middle row is reconstructed",
        "inferred from the order",
        "the number could be 2",
        "that it is free is a guess",
        "tiny, read as iron",
        "assumed",
        "the face is not public",
    ],
)
@pytest.mark.parametrize("key", ["note", "evidence"])
@pytest.mark.parametrize("line", ['id = "steward-01"', "[prices]", 'member = "courtier"'])
def test_a_remark_without_a_mark_is_found(line, key, said):
    text = packaged("base.toml")
    assert f"{line}\n" in text
    planted = text.replace(f"{line}\n", f'{line}\n{key} = "{said}"\n', 1)
    assert len(doubted(planted) - marked(planted)) == 1


@pytest.mark.parametrize("name", ["garden-1", "social-2", "top-space"])
def test_a_mark_that_is_gone_is_missed(name):
    text = without_mark(packaged("duel.toml"), name)
    assert doubted(text) - marked(text) == {name}


@pytest.mark.parametrize(
    ("old", "new", "where"),
    [
        (
            'id = "yard-1"\n',
            'id = "yard-1"\nreconstructed = ["iron"]\n',
            "yard-1: reconstructed: unknown key",
        ),
        (
            'pearl = 5\nsource = "bga-log"',
            'pearl = 5\nsource = "reconstructed"',
            "prices: source: nothing shows that this entry is reconstructed",
        ),
    ],
)
def test_a_mark_that_nothing_shows_is_refused(old, new, where):
    text = packaged("base.toml")
    assert old in text
    with pytest.raises(BadComponents, match=re.escape(where)):
        MAKERS[0](lambda _: text.replace(old, new, 1))


def without_mark(text: str, name: str) -> str:
    """The text of a data file in which an entry no longer says which of its parts are made up."""
    blocks = text.split("\n\n")
    for number, block in enumerate(blocks):
        if name in marked(block):
            blocks[number] = re.sub(r"^reconstructed = .*$", "", block, flags=re.MULTILINE)
    return "\n\n".join(blocks)


# --- what is told, drawn and counted ----------------------------------------------------------


@every_ruleset
def test_what_is_marked_in_the_data_is_told_as_reconstructed_and_nothing_else(make):
    ruleset = make()
    described = [*ruleset.describe_components(), *ruleset.describe_board()]
    assert {each.id for each in described if each.reconstructed} == all_marked(make)
    assert ruleset.reconstructed() is bool(all_marked(make))


@every_ruleset
def test_the_contract_marks_it_too(make):
    message = to_ruleset(make())
    components = {each.id for each in message.components if each.reconstructed}
    board = {
        part.id
        for part in message.board
        for fact in part.facts
        if (fact.name, fact.value) == ("reconstructed", 1)
    }
    assert components | board == all_marked(make)
    assert to_summary(make()).reconstructed is bool(all_marked(make))


@every_ruleset
def test_drawings_mark_every_part_of_the_board_that_is_marked(make):
    ruleset, files = make(), files_of(make)
    seats = ruleset.seat_counts[0]

    def daggers(ruleset: Ruleset) -> tuple[int, int]:
        game = ruleset.begin(seats, seeded(1), {})
        return render.text(game).count("†"), render.svg(game).count("†")

    text, picture = daggers(ruleset)
    for part in ruleset.describe_board():
        if part.reconstructed:
            changed = {name: without_mark(text, part.id) for name, text in files.items()}
            less = daggers(make(changed.__getitem__))
            assert less[0] < text, part.id
            assert less[1] < picture, part.id


def test_himeji_rulesets_counts_what_is_marked():
    told = json.loads(CliRunner().invoke(cli.main, ["rulesets", "--json"]).output)
    found = {
        each["name"]: (each["reconstructed"], each["reconstructed_board_parts"]) for each in told
    }
    assert found == COUNTS
    assert [sum(counts) for counts in found.values()] == [len(all_marked(make)) for make in MAKERS]


def test_himeji_rulesets_shows_the_counts():
    shown = CliRunner().invoke(cli.main, ["rulesets"], env={"COLUMNS": "80"}).output
    told = re.sub(r"[ │]+", " ", shown)
    assert re.search(r"^ base 2, 3, 4 none \S+ none $", told, re.MULTILINE)
    assert re.search(r"^ solo 1 .* 9 of 96 components $", told, re.MULTILINE)
    assert re.search(
        r"^ matcha .* 53 of 145 components \n 4 of 84 board parts $", told, re.MULTILINE
    )
    assert "51 of 97 components" in told
    assert "1 of 48 board parts" in told
