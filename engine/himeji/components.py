"""Components from a folder: corrected cards and tiles, instead of the packaged data files.

A folder holds files that are named like the packaged ones (`solo.toml`, `matcha.toml`, …), each in
place of the one of its name. They are checked like the packaged ones, and a ruleset that reads one
gets another revision, so that nobody plays with different cards by mistake.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from himeji.rules.errors import BadComponents
from himeji.rules.registry import replace_components

VARIABLE: Final = "HIMEJI_COMPONENTS"
"""The environment variable that names the folder; processes that are started inherit it."""


def use_folder(folder: str | Path) -> None:
    """Let all rulesets of this process, and of those it starts, read their data files from here."""
    path = Path(folder).absolute()
    try:
        files = {each.name: each.read_text(encoding="utf-8") for each in path.glob("*.toml")}
    except (OSError, UnicodeDecodeError) as problem:
        raise BadComponents(f"the components in {path} cannot be read: {problem}") from None
    if not files:
        raise BadComponents(f"{path} is no folder with data files of components (*.toml)")
    replace_components(files)
    os.environ[VARIABLE] = str(path)


def use_environment() -> None:
    """Do so if the environment names a folder."""
    folder = os.environ.get(VARIABLE)
    if folder:
        use_folder(folder)
