"""Runs the commands of a page in a shell, from top to bottom, as a new user would."""

import os
import re
import subprocess
import sys
from pathlib import Path

from loadtest.arena import clean_environment

ROOT = Path(__file__).parents[2]
FIRST_PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
PAGES = [*FIRST_PAGES, *sorted([*ROOT.glob("docs/*.md"), *ROOT.glob("docs/*/*.md")])]
SHORTER = {" mcts ": " mcts:seconds=0.05 ", " doctor mybot": " doctor mybot --games 2"}
_BLOCK = re.compile(r"^```([^\n]*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"`(himeji [^`]+)`")


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page):
    """The language and the text of each block."""
    return _BLOCK.findall(page.read_text(encoding="utf-8"))


def commands(page):
    """Every `himeji ...` of a page, in blocks and in its sentences."""
    typed = [
        line for language, text in blocks(page) if language == "sh" for line in text.split("\n")
    ]
    spans = _SPAN.findall(_BLOCK.sub("", page.read_text(encoding="utf-8")))
    found = [re.search(r"himeji .*", each) for each in [*typed, *spans]]
    return [each[0] for each in found if each]


class PageShell:
    """A shell with a working folder and the programs of one environment."""

    def __init__(self, folder, programs=None, **env):
        self.folder = folder
        path = f"{programs or Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        self.env = clean_environment() | {"PATH": path} | env

    def run(self, language, text):
        """Run a block and return its output; a block that fails fails the test.

        Options that take long, like a second of thinking for every decision, are shortened.
        """
        for option, shorter in SHORTER.items():
            text = text.replace(option, shorter)
        command = {"sh": ["sh", "-ec", text], "py": [sys.executable, "-c", text]}[language]
        done = subprocess.run(
            command, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
        return done.stdout
