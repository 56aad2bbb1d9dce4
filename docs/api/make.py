"""Write the API reference from the docstrings: a page per public module, in docs/api.

Run `make docs` after a change of a public docstring or signature. The sources are read, not
imported, so that compiled modules and missing extras make no difference.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path(__file__).parents[2]
HERE: Final = Path(__file__).parent
SOURCES: Final = (ROOT / "engine", ROOT / "sdk")
PAGES: Final = {
    "himeji_sdk": "bots, games here and online, replays",
    "himeji_sdk.match": "matches of bots over the same deals, and what they prove",
    "himeji_sdk.rl": "environments for reinforcement learning",
    "himeji_sdk.doctor": "the conformance kit behind `himeji doctor`",
    "himeji_sdk.connection": "channels and tokens, for programs that speak the contract themselves",
    "himeji.rules": "the rules engine",
    "himeji.rules.errors": "every error that local and online play raise",
    "himeji.render": "drawings",
}
"""Every public module, with what it is about."""

_INDENT: Final = "    "


class Entry(NamedTuple):
    """Something that a page tells of."""

    name: str
    node: ast.stmt
    text: str


def path_of(module: str) -> Path:
    """Where a module's source is."""
    for source in SOURCES:
        stem = source.joinpath(*module.split("."))
        for path in (stem / "__init__.py", stem.with_suffix(".py")):
            if path.is_file():
                return path
    raise LookupError(f"there is no module {module}")


def parsed(module: str) -> ast.Module:
    """A module's source as a tree."""
    return ast.parse(path_of(module).read_text(encoding="utf-8"))


def entries(module: str) -> Iterator[Entry]:
    """What a module offers, in the order of its `__all__`, else of its source."""
    tree = parsed(module)
    own = {entry.name: entry for entry in _defined(tree.body)}
    offered = _offered(tree)
    if offered is None:
        yield from own.values()
        return
    origin = {
        name.asname or name.name: node.module or ""
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        for name in node.names
    }
    for name in offered:
        if name in own:
            yield own[name]
            continue
        there = {entry.name: entry for entry in _defined(parsed(origin[name]).body)}
        yield there[name]


def _offered(tree: ast.Module) -> list[str] | None:
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    return None


def _defined(body: list[ast.stmt]) -> Iterator[Entry]:
    """The public definitions of a body that say what they are; a value by the text after it."""
    for place, node in enumerate(body):
        text, name = "", ""
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            text, name = ast.get_docstring(node) or "", node.name
        elif isinstance(node, ast.AnnAssign | ast.Assign):
            target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
            text = _text_of(body[place + 1]) if place + 1 < len(body) else ""
            name = ast.unparse(target).removeprefix("self.")
        if name and not name.startswith("_") and (text or isinstance(node, ast.AnnAssign)):
            yield Entry(name, node, text)


def _text_of(node: ast.stmt) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return str(node.value.value)
    return ""


# --- one page -----------------------------------------------------------------------------------


def page(module: str) -> str:
    """The page of a module."""
    about = markdown(ast.get_docstring(parsed(module)) or "")
    note = "Written from the docstrings by `make docs`; edit those."
    parts = [f"# {module}", about, f"*{note}*"]
    for entry in entries(module):
        parts += _told(entry)
    return "\n\n".join(part for part in parts if part) + "\n"


def _told(entry: Entry) -> Iterator[str]:
    if isinstance(entry.node, ast.ClassDef):
        bases = ", ".join(ast.unparse(base) for base in entry.node.bases)
        yield f"## class {entry.name}" + (f"({bases})" if bases else "")
        yield markdown(entry.text)
        yield "\n".join(_members(entry.node))
    else:
        yield f"## {entry.name}"
        yield f"`{signature(entry)}`"
        yield markdown(entry.text)


def _members(node: ast.ClassDef) -> Iterator[str]:
    """A line for each attribute and method; those of the constructor first."""
    told: list[Entry] = []
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            text = ast.get_docstring(each) or ""
            told += [Entry(node.name, each, text)] if text or len(each.args.args) > 1 else []
            told += [entry for entry in _defined(each.body) if entry.text and _is_own(entry.node)]
    for entry in [*told, *_defined(node.body)]:
        text = " ".join(entry.text.split())
        yield f"- `{signature(entry)}`" + (f": {text}" if text else "")


def _is_own(node: ast.stmt) -> bool:
    target = node.target if isinstance(node, ast.AnnAssign) else getattr(node, "targets", [None])[0]
    return isinstance(target, ast.Attribute)


def signature(entry: Entry) -> str:
    """How it is written: a call with its types, or a value with its type."""
    node = entry.node
    if isinstance(node, ast.AnnAssign):
        value = "" if node.value is None else ast.unparse(node.value)
        default = f" = {value}" if value and "(" not in value.removeprefix("(") else ""
        return f"{entry.name}: {ast.unparse(node.annotation)}{default}"
    if not isinstance(node, ast.FunctionDef):
        return entry.name
    made = node.name == "__init__"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and not made else ""
    kinds = {ast.unparse(each) for each in node.decorator_list}
    if "property" in kinds:
        return f"{entry.name}{returns.replace(' ->', ':')}"
    arguments = ast.unparse(node.args)
    for own in ("self", "cls"):
        arguments = arguments.removeprefix(own).removeprefix(", ")
    return f"{entry.name}({arguments}){returns}"


def markdown(text: str) -> str:
    """A docstring as Markdown: what is indented, and what is typed in, becomes a block."""
    out = []
    for part in text.split("\n\n"):
        lines = part.split("\n")
        if lines[0].startswith(">>> "):
            out.append("```pycon\n" + part + "\n```")
        elif all(line.startswith(_INDENT) for line in lines):
            out.append("```text\n" + "\n".join(line[4:] for line in lines) + "\n```")
        else:
            out.append(part)
    return "\n\n".join(out)


def pages() -> dict[str, str]:
    """Every page by its file name, the index among them."""
    rows = [f"| [{name}]({name}.md) | {about} |" for name, about in PAGES.items()]
    index = ["# API reference", "", "| module | what it is about |", "|---|---|", *rows, ""]
    return {"README.md": "\n".join(index)} | {f"{name}.md": page(name) for name in PAGES}


def main() -> None:
    """Write the pages that changed."""
    for name, text in pages().items():
        (HERE / name).write_text(text, encoding="utf-8")
    sys.stdout.write(f"wrote {len(PAGES)} pages to {HERE.relative_to(ROOT)}\n")


if __name__ == "__main__":
    main()
