"""`himeji new`: a first bot as one file, copied from a real one, template.py, by another name."""

from __future__ import annotations

import keyword
import re
from pathlib import Path
from typing import Final

from himeji.rules.errors import InvalidRequest

from himeji_sdk import catalogue

TEMPLATE: Final = Path(__file__).with_name("template.py")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,31}")


def write(name: str, folder: Path) -> Path:
    """Write the file of a new bot; raises InvalidRequest, and overwrites nothing."""
    file = folder / f"{name}.py"
    if not _NAME.fullmatch(name) or keyword.iskeyword(name):
        raise InvalidRequest(f"{name!r} is no name for a bot: small letters, digits and _ are")
    if name in catalogue.names():
        raise InvalidRequest(f"there is an installed bot {name!r} already: take another name")
    try:
        with file.open("x", encoding="utf-8") as out:
            out.write(text(name))
    except FileExistsError:
        raise InvalidRequest(f"{file} exists already: take another name, or move it away") from None
    return file


def text(name: str) -> str:
    """The file's text: the template with the bot's own name in it."""
    class_name = "".join(word.capitalize() for word in name.split("_"))
    source = TEMPLATE.read_text(encoding="utf-8")
    return source.replace("MyBot", class_name).replace("mybot", name)


def next_steps(name: str) -> list[tuple[str, str]]:
    """What to type next, and what for."""
    return [
        (f"himeji play {name} greedy --watch", "a game here, drawn choice by choice"),
        (f"python {name}.py", "its test"),
        (f"himeji doctor {name}", "is it fit for an arena?"),
        (f"himeji run {name} --against house/greedy", "a game online (himeji serve)"),
    ]
