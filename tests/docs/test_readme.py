"""README and CONTRIBUTING are true: their commands exist, their links lead somewhere, code runs."""

import re
import subprocess
import sys
from pathlib import Path

from himeji_server.launch.house_bots import STANDARD
from himeji_server.launch.serve import Arena
from himeji_server.settings import Settings

from tests.docs.page_shell import PAGES, ROOT, name_of

README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def make_targets() -> set[str]:
    run = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    return set(re.findall(r"make (\S+)", run.stdout))


def test_the_first_page_names_one_command_first_and_the_other_for_developers() -> None:
    commands = [text.strip() for language, text in BLOCKS if not language and "make" in text]
    assert commands == ["make run"]
    assert "`make test`" in README


def test_setting_up_a_clone_takes_two_commands() -> None:
    blocks = re.findall(r"^```\n(.*?)^```", CONTRIBUTING, re.DOTALL | re.MULTILINE)
    assert blocks == ["make build\nmake test\n"]


def test_every_target_that_a_page_names_exists() -> None:
    targets = make_targets()
    assert {"run", "test", "check", "proto", "build", "bench", "clean"} <= targets
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = set(re.findall(r"(?:^|`)make ([a-z][a-z-]*)", text, re.MULTILINE))
        assert named <= targets, name_of(page)


def test_the_block_that_make_run_shows_is_the_block_that_is_printed() -> None:
    shown = next(text for _, text in BLOCKS if "the arena is open" in text)
    settings = Settings(
        port=50051,
        data=Path("x"),
        redis=None,
        ranked=False,
        dev=True,
        log_format="console",
        house=STANDARD,
    )
    folder = "/home/you/himeji/.himeji"
    opened = Arena(settings, 50051, folder, "unix:///", f"{folder}/token", http_port=8051)
    printed = opened.announcement()

    def first_words(block: str) -> list[str]:
        return [line.split()[0] for line in block.strip().splitlines()]

    assert first_words(shown) == first_words(printed)
    assert shown.splitlines()[0] == printed.splitlines()[0]


def test_every_folder_of_the_repository_is_in_the_layout() -> None:
    layout = CONTRIBUTING.partition("## Layout")[2].partition("\n## ")[0]
    linked = {target.partition("/")[0] for target in re.findall(r"\]\(([^)]+)\)", layout)}
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    folders = {name.partition("/")[0] for name in listed.stdout.splitlines() if "/" in name}
    assert linked == {folder for folder in folders if not folder.startswith(".")}


def test_every_link_of_the_pages_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_code_of_the_readme_runs() -> None:
    code = next(text for language, text in BLOCKS if language == "python")
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert re.match(r"\[\d+, \d+, \d+\] \[[123], [123], [123]\]", run.stdout)
