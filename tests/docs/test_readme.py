"""The README is true: its commands exist, its block is what is shown, its code runs."""

import re
import subprocess
import sys
from pathlib import Path

from himeji_server.launch.house_bots import STANDARD
from himeji_server.launch.serve import Arena
from himeji_server.settings import Settings

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.DOTALL | re.MULTILINE)


def make_targets() -> set[str]:
    run = subprocess.run(
        ["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=120
    )
    return set(re.findall(r"make (\S+)", run.stdout))


def test_the_first_page_names_the_two_commands_first() -> None:
    commands = [text.strip() for language, text in BLOCKS if not language and "make" in text]
    assert commands == ["make run", "make test"]
    assert {"run", "test", "check", "proto", "build", "bench", "clean"} <= make_targets()


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


def test_every_folder_of_the_map_exists() -> None:
    folders = re.findall(r"^\| `(\w+)/` \|", README, re.MULTILINE)
    assert len(folders) == 8
    for folder in folders:
        assert (ROOT / folder).is_dir()


def test_every_link_of_the_pages_leads_somewhere() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    for page in pages:
        for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_code_of_the_readme_runs() -> None:
    code = next(text for language, text in BLOCKS if language == "python")
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert re.match(r"\[\d+, \d+, \d+\] \[[123], [123], [123]\]", run.stdout)
