"""Corrected components from a folder: same checks, another revision, nothing half replaced."""

import os

import pytest
from himeji import components, rules
from himeji.rules.datafile import data_files, packaged
from himeji.rules.errors import BadComponents, VersionMismatch
from himeji.rules.registry import replace_components


@pytest.fixture(autouse=True)
def packaged_again(monkeypatch):
    """Rulesets and environment are as before afterwards."""
    before = dict(rules.RULESETS)
    monkeypatch.delenv(components.VARIABLE, raising=False)
    yield
    rules.RULESETS.clear()
    rules.RULESETS.update(before)
    os.environ.pop(components.VARIABLE, None)


def corrected(name, old, new):
    text = packaged(name)
    assert old in text
    return text.replace(old, new, 1)


def revisions():
    return {name: ruleset.revision for name, ruleset in rules.RULESETS.items()}


def test_a_corrected_face_is_played_and_changes_the_revision_of_those_who_read_it(tmp_path):
    before, old_game = revisions(), rules.new_game("solo", 1, seed=3)
    text = corrected("solo.toml", '"2 rival-vp"]', '"9 rival-vp"]')
    (tmp_path / "solo.toml").write_text(text)
    components.use_folder(tmp_path)
    changed = {name for name, revision in revisions().items() if revision != before[name]}
    assert changed == {"solo", "matcha-solo"}
    tables = rules.ruleset("solo").tables
    assert tables.of(tables.numbers["solitaire-9"]).actions[1].text == "9 rival-vp"
    with pytest.raises(VersionMismatch):
        rules.loads(old_game.dumps())
    game = rules.new_game("solo", 1, seed=3)
    assert rules.loads(game.dumps()).dumps() == game.dumps()


def test_processes_that_are_started_inherit_the_folder(tmp_path, monkeypatch):
    (tmp_path / "solo.toml").write_text(packaged("solo.toml") + "# mine\n")
    monkeypatch.setenv(components.VARIABLE, str(tmp_path))
    before = revisions()
    components.use_environment()
    assert revisions()["solo"] != before["solo"]
    assert os.environ[components.VARIABLE] == str(tmp_path)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("solo.toml", 'die = "coral left"', "solo.toml"),
        ("cards.toml", "", "cards.toml: there is no such data file"),
        ("matcha.toml", "not toml", "matcha.toml: not a TOML file"),
    ],
)
def test_a_faulty_file_is_refused_and_nothing_is_replaced(tmp_path, name, text, sentence):
    before = dict(rules.RULESETS)
    (tmp_path / name).write_text(text)
    with pytest.raises(BadComponents, match=sentence):
        components.use_folder(tmp_path)
    assert before == rules.RULESETS
    assert components.VARIABLE not in os.environ


def test_a_folder_without_data_files_is_refused(tmp_path):
    with pytest.raises(BadComponents, match="no folder with data files"):
        components.use_folder(tmp_path / "nowhere")


def test_every_data_file_is_read_by_a_ruleset():
    for name in data_files():
        before = revisions()
        replace_components({name: packaged(name) + "# mine\n"})
        assert revisions() != before, f"no ruleset reads {name}"


@pytest.mark.rule("B-3.5")
def test_what_the_well_gives_is_printed_in_the_data_file():
    text = corrected("base.toml", 'gives = ["1 seal"]', 'gives = ["2 coin"]')
    replace_components({"base.toml": text})
    game = rules.new_game("base", 2, seed=1)
    assert game.well[0].text == "2 coin"
    well = next(part for part in rules.ruleset("base").describe_board() if part.id == "well")
    assert [face.text for face in well.faces] == ["2 coin"]


@pytest.mark.parametrize("printed", ["", "gives = []", 'gives = ["1 cloud"]'])
def test_a_well_that_gives_nothing_known_is_refused(printed):
    text = corrected("base.toml", 'gives = ["1 seal"]', printed)
    with pytest.raises(BadComponents, match="well: gives"):
        replace_components({"base.toml": text})
