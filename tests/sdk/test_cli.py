"""The command line `himeji`: its version, its commands, and what it says of what is missing."""

import importlib.metadata
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import himeji
import pytest
from click.testing import CliRunner
from himeji.rules.errors import UnknownRuleset
from himeji_sdk import _cli as cli

HIMEJI = str(Path(sys.executable).parent / "himeji")
RUN = "from himeji_sdk._cli import main; main(prog_name='himeji')"


def base_distributions(name="himeji", found=None):
    """The distributions that `pip install himeji` brings, without any extra."""
    found = {} if found is None else found
    if name.lower() not in found:
        found[name.lower()] = importlib.metadata.distribution(name)
        for requirement in importlib.metadata.requires(name) or ():
            if ";" not in requirement:
                base_distributions(re.match(r"[\w.-]+", requirement)[0], found)
    return found


@pytest.fixture(scope="module")
def bare_folder(tmp_path_factory):
    """A folder of links to what a bot author has installed: everything but the extras."""
    folder = tmp_path_factory.mktemp("bare")
    for distribution in base_distributions().values():
        for top in {file.parts[0] for file in distribution.files} - {"..", "__pycache__"}:
            target = Path(str(distribution.locate_file(top)))
            if not (folder / top).exists() and target.exists():
                (folder / top).symlink_to(target)
    return folder


@pytest.fixture
def run_bare(bare_folder):
    """Run the command line where no extra is installed."""
    packages = {Path(each.__file__).parents[1] for each in (himeji, sys.modules["himeji_sdk"])}
    roots = {*packages, *(root.parents[0] / "server" for root in packages)}
    path = os.pathsep.join(map(str, [bare_folder, *roots]))

    def run(*arguments, code=RUN):
        return subprocess.run(
            [sys.executable, "-S", "-c", code, *arguments],
            env={"PYTHONPATH": path, "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


class FakeEntryPoint:
    """A command that another package brings."""

    def __init__(self, command=None, error=None, module="himeji_server.launch.cli"):
        self.command, self.error = command, error
        self.module = module
        self.value = f"{module}:thing"

    def load(self):
        if self.error:
            raise self.error
        return self.command


@pytest.fixture
def run_with(monkeypatch):
    """Run the command line with one more command, `thing`."""

    def run(entry_point, *arguments):
        monkeypatch.setattr(cli, "_entry_points", lambda: {"thing": entry_point})
        return CliRunner().invoke(cli.main, arguments)

    return run


def test_the_version_names_the_form_of_the_rules_and_python():
    told = subprocess.run([HIMEJI, "--version"], capture_output=True, text=True, check=True)
    python = ".".join(map(str, sys.version_info[:3]))
    expected = f"himeji {himeji.__version__} (rules: {himeji.ENGINE_FORM}, Python {python})\n"
    assert told.stdout == expected


def test_the_version_says_pure_when_the_pure_form_is_chosen():
    env = os.environ | {"HIMEJI_PURE": "1"}
    told = subprocess.run(
        [HIMEJI, "--version"], env=env, capture_output=True, text=True, check=True
    )
    assert "(rules: pure, " in told.stdout


def test_help_lists_the_commands_of_other_packages():
    told = subprocess.run([HIMEJI, "--help"], capture_output=True, text=True, check=True)
    assert re.search(r"^  serve  ", told.stdout, re.MULTILINE)


def test_the_bare_installation_really_lacks_the_extra(run_bare):
    told = run_bare(code="import structlog")
    assert "ModuleNotFoundError" in told.stderr


def test_help_lists_a_command_whose_extra_is_missing(run_bare):
    told = run_bare("--help")
    assert told.returncode == 0, told.stderr
    assert re.search(r"^  serve  ", told.stdout, re.MULTILINE)


@pytest.mark.parametrize("command", ["serve", "health"])
def test_a_missing_extra_is_one_sentence_that_says_what_to_install(run_bare, command):
    told = run_bare(command)
    sentence = f"himeji {command} needs the extra `server`: pip install 'himeji[server]'"
    assert told.stderr == f"Error: {sentence}\n"
    assert told.returncode == 1


def test_a_command_that_cannot_be_loaded_is_still_listed(run_with):
    broken = FakeEntryPoint(error=ModuleNotFoundError("No module named 'x'", name="x"))
    told = run_with(broken, "--help")
    assert told.exit_code == 0
    assert "thing" in told.output


@pytest.mark.parametrize("arguments", [["thing"], ["thing", "--port", "1"], ["thing", "--help"]])
def test_a_command_that_lacks_its_extra_at_load_says_so_too(run_with, monkeypatch, arguments):
    monkeypatch.setattr(cli, "_is_incomplete", lambda extra: extra == "server")
    broken = FakeEntryPoint(error=ModuleNotFoundError("No module named 'x'", name="x"))
    told = run_with(broken, *arguments)
    assert told.exit_code == 1
    assert "needs the extra `server`" in told.output


@pytest.mark.parametrize(
    "error",
    [
        ModuleNotFoundError("No module named 'himeji_server.gone'", name="himeji_server.gone"),
        ModuleNotFoundError("No module named 'himeji.gone'", name="himeji.gone"),
        ModuleNotFoundError("No module named 'typo'", name="typo"),
        ImportError("cannot import name 'gone' from 'redis'", name="redis"),
    ],
)
@pytest.mark.parametrize("at_load", [True, False])
def test_a_defect_of_ours_is_not_disguised_as_a_missing_extra(run_with, error, at_load):
    @click.command()
    def thing():
        raise error

    entry_point = FakeEntryPoint(error=error) if at_load else FakeEntryPoint(thing)
    assert run_with(entry_point, "thing").exception is error


def test_an_error_of_the_tree_is_one_sentence(run_with):
    @click.command()
    def thing():
        raise UnknownRuleset("there is no ruleset `bass`; did you mean `base`?")

    told = run_with(FakeEntryPoint(thing), "thing")
    assert told.exit_code == 1
    assert told.stderr == "Error: there is no ruleset `bass`; did you mean `base`?\n"


def test_an_unknown_command_is_a_wrong_use():
    told = CliRunner().invoke(cli.main, ["nothing"])
    assert told.exit_code == 2
    assert "No such command 'nothing'" in told.output


def test_an_entry_point_that_is_no_command_is_a_defect(run_with):
    told = run_with(FakeEntryPoint(command=print), "thing")
    assert isinstance(told.exception, TypeError)


def every_command(group=cli.main):
    """All commands by their names, those of groups among them."""
    found = {}
    with click.Context(group) as context:
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            inside = every_command(command) if isinstance(command, click.Group) else {}
            found |= {f"{name} {other}": each for other, each in inside.items()} or {name: command}
    return found


def test_every_command_that_answers_can_answer_in_json():
    """The arena itself does not answer but runs; its log is JSON by --log-format."""
    without = {
        name
        for name, command in every_command().items()
        if not any("--json" in each.opts for each in command.params)
    }
    assert without == {"serve"}


def test_every_command_and_every_option_says_what_it_is_for():
    for name, command in every_command().items():
        assert command.get_short_help_str(), name
        for each in command.params:
            assert isinstance(each, click.Argument) or each.help, f"{name} {each.name}"
