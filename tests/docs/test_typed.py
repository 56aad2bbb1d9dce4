"""Everything that the pages tell people to type works, and every block is run by some test."""

import os
import re
import sys
import tomllib
from pathlib import Path

import click
import pytest
from himeji_sdk._cli import main

from tests.docs.page_shell import PAGES, ROOT, PageShell, blocks, commands, name_of

OWN_TEST = {
    "docs/quickstart.md": "tests/docs/test_quickstart.py",
    "docs/other-languages.md": "tests/languages",
    "docs/ladder.md": "tests/sdk/test_ladder.py",
}
"""Pages whose commands are run by a test of their own."""

RUN_BY = {
    "sh": "this file, and test_quickstart.py",
    "py": "this file, as a program of its own",
    "python": "test_pages.py, and for the README test_readme.py",
    "pycon": "test_api.py",
    "toml": "this file reads it",
    "text": "nobody: it shows what is answered",
    "": "test_readme.py",
}
TYPED = [
    page
    for page in PAGES
    if name_of(page) not in OWN_TEST and any(language == "sh" for language, _ in blocks(page))
]


@pytest.mark.parametrize("page", TYPED, ids=name_of)
def test_everything_on_a_page_works_in_the_order_in_which_it_stands(page, endpoint, tmp_path):
    (tmp_path / ".venv").symlink_to(sys.prefix)
    env = {"HIMEJI_TARGET": endpoint.target, "HIMEJI_TOKEN_FILE": str(endpoint.token_file)}
    if "HIMEJI_PURE" in os.environ:
        env["HIMEJI_PURE"] = os.environ["HIMEJI_PURE"]
    shell = PageShell(tmp_path, **env)
    for language, text in blocks(page):
        if language == "python" and "class MyBot" in text:
            (tmp_path / "mybot.py").write_text(text)
        if language in ("sh", "py"):
            shell.run(language, text)


def test_a_page_that_is_typed_elsewhere_has_a_test_of_its_own():
    for page in PAGES:
        if name_of(page) in OWN_TEST:
            assert (ROOT / OWN_TEST[name_of(page)]).exists()


def test_the_pages_that_tell_what_to_type_are_found():
    assert {"README.md", "docs/bot-guide.md"} <= {name_of(page) for page in TYPED}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_is_of_a_kind_that_some_test_runs(page):
    for language, text in blocks(page):
        kind = language.partition(" ")[0]
        if kind == "toml":
            tomllib.loads(text)
        if kind == "json":  # tests/contract/test_protocol_page.py parses messages of the contract
            assert language.startswith("json himeji.v1.")
        else:
            assert kind in RUN_BY, text


def options_of(command):
    """All options of a command; those of a group are those of its commands."""
    inside = command.commands.values() if type(command) is click.Group else ()
    own = [option for each in command.params for option in [*each.opts, *each.secondary_opts]]
    return {"--help", *own}.union(*map(options_of, inside))


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_command_and_option_that_a_page_names_exists(page):
    for text in commands(page):
        words = text.split()[1:]
        if not words[0].isalpha():
            continue
        command = main
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            command = command.get_command(click.Context(command), words.pop(0))
            assert command is not None, text
        used = {word for word in words if re.fullmatch(r"--[a-z-]+", word)}
        assert used <= options_of(command), text


def test_every_option_that_the_guide_names_alone_is_one_of_a_command():
    page = Path(next(page for page in PAGES if name_of(page) == "docs/bot-guide.md"))
    with click.Context(main) as context:
        every = [main.get_command(context, name) for name in main.list_commands(context)]
    known = set().union(*map(options_of, every))
    for option in re.findall(r"`(--[a-z-]+)", page.read_text(encoding="utf-8")):
        assert option in known, option
