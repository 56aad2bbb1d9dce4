"""The page docs/operations.md against the command `himeji serve`: every setting, as it is."""

import re
from pathlib import Path

import click
import pytest
from himeji_server.launch.cli import serve
from himeji_server.settings import DEFAULT_HTTP_PORT, USUAL_HTTP_PORT

PAGE = (Path(__file__).parents[2] / "docs" / "operations.md").read_text(encoding="utf-8")
ROWS = {
    option: (variable, default)
    for option, variable, default in re.findall(
        r"^\| `(--[\w/-]+)` \| `(\w+)` \| ([^|]+) \|", PAGE, re.MULTILINE
    )
}
OPTIONS = {
    "/".join([*option.opts, *option.secondary_opts]): option
    for option in serve.params
    if isinstance(option, click.Option)
}


def test_every_setting_is_on_the_page_and_no_other() -> None:
    assert ROWS.keys() == OPTIONS.keys()


@pytest.mark.parametrize("name", OPTIONS)
def test_the_variable_of_a_setting_is_the_one_on_the_page(name: str) -> None:
    assert ROWS[name][0] == OPTIONS[name].envvar


@pytest.mark.parametrize("name", OPTIONS)
def test_the_default_of_a_setting_is_the_one_on_the_page(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable, _ in ROWS.values():
        monkeypatch.delenv(variable, raising=False)
    default = serve.make_context("serve", []).params[OPTIONS[name].name or ""]
    told = ROWS[name][1].strip("`")
    if default is None:
        # What depends on another setting is told in words.
        assert told == "none" or " " in told
    elif default == USUAL_HTTP_PORT:
        assert told == f"{DEFAULT_HTTP_PORT}, or a free one where that is in use"
    elif isinstance(default, bool):
        assert told == ("on" if default else "off")
    else:
        assert told == str(default)
