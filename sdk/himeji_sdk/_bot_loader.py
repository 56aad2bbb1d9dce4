"""Bots by name: those that installed packages bring, and those in files of one's own.

A package names its bots in the entry-point group `himeji.bots`, the name on the left, the class on
the right. What a class takes in its constructor are the bot's options: `mcts:seconds=0.2`.
"""

from __future__ import annotations

import ast
import importlib
import importlib.metadata
import importlib.util
import inspect
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final, TypeVar

from himeji.rules.errors import InvalidRequest

from himeji_sdk._bot import AnyBot, Bot, BotFactory, bot_factory

GROUP: Final = "himeji.bots"
_Result = TypeVar("_Result")


def installed_bots() -> dict[str, str]:
    """Every installed bot, with the place of its class."""
    found = {each.name: each.value for each in importlib.metadata.entry_points(group=GROUP)}
    return dict(sorted(found.items()))


@dataclass(frozen=True)
class BotSpec:
    """The bot that a text names: a bot, or a class of bots with options for its constructor."""

    text: str
    target: Any
    options: Mapping[str, Any]

    def bot(self, **defaults: Any) -> AnyBot:
        """The bot; a default applies if the class has that option and the text does not set it."""
        possible = _parameters(self.target)
        options = {key: value for key, value in defaults.items() if key in possible}
        options |= self.options
        if not options:
            bot: AnyBot = self.target
            return bot
        return BotFactory(self.text, partial(self.target, **options), shared=False)


def load_bot(text: str) -> AnyBot:
    """The bot that a text names; raises InvalidRequest.

    A text is the name of an installed bot, `FILE.py` (or `FILE` without the ending), `FILE.py:NAME`
    or `MODULE:NAME`, and may end with options, as in `mcts:seconds=0.2,seed=7`.
    """
    return find_bot(text).bot()


def find_bot(text: str) -> BotSpec:
    """Find and check the bot that a text names; raises InvalidRequest."""
    place, _, tail = text.rpartition(":")
    if "=" not in tail:
        return BotSpec(text, _resolve(text), {})
    spec = BotSpec(text, _resolve(place), dict(_option(each, text) for each in tail.split(",")))
    possible = _parameters(spec.target)
    for key in spec.options:
        if key not in possible:
            there = ", ".join(possible) or "none"
            raise InvalidRequest(f"{place} has no option {key!r} (it has: {there})")
    try:
        bot_factory(spec.bot()).make()
    except (TypeError, ValueError) as error:
        raise InvalidRequest(f"{text}: {error}") from None
    return spec


def _option(text: str, whole: str) -> tuple[str, Any]:
    """An option with its value: a number, True, False or None, else a text."""
    key, equals, value = text.partition("=")
    if not equals:
        raise InvalidRequest(f"{whole}: options are written key=value, {text!r} is not")
    try:
        return key, ast.literal_eval(value)
    except (SyntaxError, ValueError):
        return key, value


def _parameters(target: Any) -> list[str]:
    """The options that a class of bots has; none for what is no class."""
    return list(inspect.signature(target).parameters) if isinstance(target, type) else []


def _resolve(text: str) -> AnyBot:
    for each in importlib.metadata.entry_points(group=GROUP, name=text):
        return _checked(each.load(), text)
    place, _, name = text.rpartition(":") if ":" in text else (text, "", "")
    if not place.endswith(".py") and Path(f"{place}.py").is_file():
        place += ".py"
    if place.endswith(".py"):
        return _checked(_select(_import_file(Path(place)), name, place), text)
    if name:
        module = _import(place, partial(importlib.import_module, place))
        return _checked(_attribute(module, name), text)
    there = ", ".join(installed_bots()) or "none is installed"
    raise InvalidRequest(f"there is no bot {text!r} (there are: {there}); and no file {text}.py")


def _import_file(path: Path) -> ModuleType:
    """Import a file, which may import its neighbours."""
    if not path.is_file():
        raise InvalidRequest(f"there is no file {path}")
    folder = str(path.absolute().parent)
    if folder not in sys.path:
        sys.path.append(folder)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InvalidRequest(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    _import(str(path), partial(spec.loader.exec_module, module))
    return module


def _import(place: str, load: Callable[[], _Result]) -> _Result:
    """Run an import; a failure becomes one sentence, with the line it failed at."""
    try:
        return load()
    except (Exception, SystemExit) as error:
        what = f"{type(error).__name__}: {error}"
        call = traceback.extract_tb(error.__traceback__)[-1]
        if not isinstance(error, SyntaxError) and "importlib" not in call.filename:
            what += f" ({Path(call.filename).name}, line {call.lineno})"
        raise InvalidRequest(f"{place} cannot be imported: {what}") from error


def _select(module: ModuleType, name: str, place: str) -> Any:
    """The attribute of that name, else the only bot in the file, else its function `choose`."""
    if name:
        return _attribute(module, name)
    own = [
        thing
        for thing in vars(module).values()
        if isinstance(thing, type)
        and issubclass(thing, Bot)
        and thing.__module__ == module.__name__
    ]
    if len(own) == 1:
        return own[0]
    if own:
        classes = ", ".join(each.__name__ for each in own)
        raise InvalidRequest(f"{place} has several bots ({classes}): name one, {place}:NAME")
    return _attribute(module, "choose")


def _attribute(module: ModuleType, name: str) -> Any:
    try:
        return getattr(module, name)
    except AttributeError:
        raise InvalidRequest(
            f"{module.__name__} has no {name}: a bot is a class that derives from Bot, "
            "or a function choose(game, legal)"
        ) from None


def _checked(target: Any, text: str) -> AnyBot:
    try:
        bot_factory(target)
    except InvalidRequest as error:
        raise InvalidRequest(f"{text}: {error.message}") from None
    bot: AnyBot = target
    return bot
