"""Reading a data file completely: every fault names the file, the entry and the key."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Mapping, Sequence
from importlib import resources
from typing import Any

from himeji.rules.errors import BadComponents

CODE_REVISION = 2  # counts changes of the code that play games differently
RECONSTRUCTED = "reconstructed"  # the source that marks a whole entry, the key that marks parts
SOURCES = {
    "rulebook": "stated in the rule book",
    "bga-log": "read from records of many finished games on a public game site",
    "repo-agree": "two or more independent public repositories agree",
    "repo-single": "one public repository says it",
    "unknown": "not known",
    RECONSTRUCTED: "made up here, consistent with counts, icons and examples",
}
"""Where facts come from, in words."""
ABOUT = ("source", "also_in", "evidence", "note", "disagreement")
"""Keys that any entry may have: where its facts come from. They are for readers, not for play."""


def packaged(name: str) -> str:
    """The text of a data file that comes with the rules."""
    return (resources.files("himeji.rules") / "data" / name).read_text(encoding="utf-8")


def data_files() -> list[str]:
    """The names of the packaged files with components."""
    folder = resources.files("himeji.rules") / "data"
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(".toml"))


def revision_of(files: Mapping[str, str]) -> str:
    """The revision of a ruleset: that of its code, and a short digest of its data files."""
    data = "".join(files.values())
    return f"{CODE_REVISION}-{hashlib.sha256(data.encode()).hexdigest()[:8]}"


class Entry:
    """One table of a data file, read key by key; `finish` refuses keys that nobody asked for."""

    def __init__(self, file: str, name: str, values: dict[str, Any]) -> None:
        self.file = file
        self.name = name
        self._values = values
        self._asked: set[str] = set(ABOUT)

    def fault(self, key: str, problem: str) -> BadComponents:
        """The error that names this file, this entry and the key."""
        return BadComponents(f"{self.file}: {self.name}: {key}: {problem}")

    def has(self, key: str) -> bool:
        """Whether the entry has the key."""
        return key in self._values

    def number(self, key: str) -> int:
        """A whole number that is not negative."""
        value = self._get(key)
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise self.fault(key, f"expected a whole number, found {value!r}")
        return value

    def text(self, key: str) -> str:
        value = self._get(key)
        if not isinstance(value, str):
            raise self.fault(key, f"expected a text, found {value!r}")
        return value

    def one_of(self, key: str, choices: tuple[str, ...]) -> str:
        """One of a few words."""
        value = self.text(key)
        if value not in choices:
            raise self.fault(key, f"expected one of {', '.join(choices)}, found {value!r}")
        return value

    def flag(self, key: str) -> bool:
        """True or false; absent is false."""
        value = self._get(key) if self.has(key) else False
        if not isinstance(value, bool):
            raise self.fault(key, f"expected true or false, found {value!r}")
        return value

    def items(self, key: str) -> list[Any]:
        value = self._get(key)
        if not isinstance(value, list):
            raise self.fault(key, f"expected a list, found {value!r}")
        return value

    def texts(self, key: str) -> list[str]:
        """A list of texts."""
        values = self.items(key)
        for value in values:
            if not isinstance(value, str):
                raise self.fault(key, f"expected texts, found {value!r}")
        return values

    def numbers(self, key: str) -> list[int]:
        """A list of whole numbers."""
        values = self.items(key)
        for value in values:
            if not isinstance(value, int) or isinstance(value, bool) or value < 0:
                raise self.fault(key, f"expected whole numbers, found {value!r}")
        return values

    def entries(self, key: str) -> list[Entry]:
        """A list of tables, each named by its place."""
        return [self._entry(f"{key}[{n}]", value) for n, value in enumerate(self.items(key))]

    def entry(self, key: str) -> Entry:
        return self._entry(key, self._get(key))

    def source(self) -> str:
        """Where the entry's facts come from."""
        return self.one_of("source", tuple(SOURCES))

    def reconstructed(self) -> bool:
        """Whether the entry, or a part of it that it names, was made up here."""
        self._asked.add(RECONSTRUCTED)
        parts = self.texts(RECONSTRUCTED) if self.has(RECONSTRUCTED) else []
        return self.source() == RECONSTRUCTED or bool(parts)

    def remarks(self) -> str:
        """What else the entry says about its source, in sentences; empty if nothing."""
        said = [str(self._values[key]) for key in ("note", "evidence") if self.has(key)]
        if self.has(RECONSTRUCTED):
            said.append(f"reconstructed: {', '.join(self.texts(RECONSTRUCTED))}")
        if self.has("disagreement"):
            said.append(f"sources disagree: {self._values['disagreement']}")
        if self.has("also_in"):
            said.append(f"also in: {', '.join(map(str, self._values['also_in']))}")
        return "; ".join(text.rstrip(".") for text in said)

    def finish(self) -> None:
        """Refuse what nobody asked for: a misspelt key or a mark must not be lost in silence."""
        if self._values.get("source") == RECONSTRUCTED and RECONSTRUCTED not in self._asked:
            raise self.fault("source", "nothing shows that this entry is reconstructed")
        for key in self._values:
            if key not in self._asked:
                raise self.fault(key, "unknown key")

    def _entry(self, key: str, value: Any) -> Entry:
        if not isinstance(value, dict):
            raise self.fault(key, f"expected a table, found {value!r}")
        return Entry(self.file, f"{self.name}: {key}", value)

    def _get(self, key: str) -> Any:
        self._asked.add(key)
        if key not in self._values:
            raise self.fault(key, "missing")
        return self._values[key]


class DataFile:
    """A whole file: its kinds of entries with the counts it states."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        try:
            self._tables = tomllib.loads(text)
        except tomllib.TOMLDecodeError as problem:
            raise BadComponents(f"{name}: not a TOML file: {problem}") from None
        self._asked: set[str] = set()

    def has(self, kind: str) -> bool:
        """Whether the file has entries of the kind, or a table of that name."""
        return kind in self._tables

    def table(self, kind: str) -> Entry:
        """The one table of that name."""
        self._asked.add(kind)
        values = self._tables.get(kind)
        if not isinstance(values, dict):
            raise BadComponents(f"{self.name}: {kind}: missing")
        return Entry(self.name, kind, values)

    def entries(self, kind: str) -> list[Entry]:
        """All entries of a kind, named by their ids; their number is the stated one."""
        self._asked.add(kind)
        found = self._tables.get(kind)
        if not isinstance(found, list):
            raise BadComponents(f"{self.name}: {kind}: missing")
        stated = self.table("counts").number(kind)
        if len(found) != stated:
            raise BadComponents(
                f"{self.name}: counts: {kind}: {stated} stated, {len(found)} entries found"
            )
        for number, values in enumerate(found):
            if not isinstance(values, dict):
                raise BadComponents(f"{self.name}: {kind}[{number}]: expected a table")
        return [
            Entry(self.name, str(values.get("id", f"{kind}[{n}]")), values)
            for n, values in enumerate(found)
        ]

    def finish(self) -> None:
        """Refuse kinds of entries, and counts of kinds, that nobody asked for."""
        for kind in [*self._tables, *self._tables.get("counts", {})]:
            if kind not in self._asked:
                raise BadComponents(f"{self.name}: {kind}: unknown kind of entry")


class DataFiles(DataFile):
    """Several files as one: a box and its expansions, each with its own counts."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = [DataFile(name, text) for name, text in files.items()]
        self.name = " + ".join(files)

    def has(self, kind: str) -> bool:
        """Whether one of them has it."""
        return any(file.has(kind) for file in self._files)

    def table(self, kind: str) -> Entry:
        """The one table of that name, from the first file that has it."""
        return self._with(kind)[0].table(kind)

    def entries(self, kind: str) -> list[Entry]:
        """All entries of a kind, file by file."""
        return [entry for file in self._with(kind) for entry in file.entries(kind)]

    def finish(self) -> None:
        """Refuse kinds of entries that nobody asked for."""
        for file in self._files:
            file.finish()

    def _with(self, kind: str) -> Sequence[DataFile]:
        found = [file for file in self._files if file.has(kind)]
        if not found:
            raise BadComponents(f"{self.name}: {kind}: missing")
        return found


def parse_each(entry: Entry, key: str, texts: list[str], parse: Callable[[str], Any]) -> list[Any]:
    """Parse each text, and say where a text stands that cannot be parsed."""
    parsed = []
    for text in texts:
        try:
            parsed.append(parse(text))
        except ValueError as problem:
            raise entry.fault(key, str(problem)) from None
    return parsed
