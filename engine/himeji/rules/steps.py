"""Kinds of steps by name, so that a stack of pending steps can be written down and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from himeji.rules import description
from himeji.rules.game import Step
from himeji.rules.step_fields import Flag, Form, Rule


class StepKind:
    """A kind of step: its name, how to build one, and its fields with their forms, in order.

    A form that depends on the ruleset is named; the codec is given the forms by their names.
    """

    def __init__(self, name: str, step: Callable[..., Step], **fields: Form | str) -> None:
        self.name = name
        self.step = step
        self.fields = fields


NUMBER = Form()
FLAG = Flag()
RULE = Rule()


class StepCodec:
    """Writes the steps of a ruleset as numbers and as JSON, and reads them back."""

    def __init__(self, kinds: tuple[StepKind, ...], forms: Mapping[str, Form]) -> None:
        self.kinds = kinds
        self._fields: list[dict[str, Form]] = [
            {
                field: forms[form] if isinstance(form, str) else form
                for field, form in kind.fields.items()
            }
            for kind in kinds
        ]
        self._of_step: dict[Any, int] = {kind.step: number for number, kind in enumerate(kinds)}
        self._of_name = {kind.name: number for number, kind in enumerate(kinds)}

    def fields(self, kind: int) -> Mapping[str, Form]:
        """The fields of a kind of step with their forms, in the order of their numbers."""
        return self._fields[kind]

    def name(self, step: Step) -> str:
        """The name of a step's kind."""
        return self.kinds[self._of_step[type(step)]].name

    def numbers(self, step: Step) -> list[int]:
        """The kind of a step and its fields."""
        kind = self._of_step[type(step)]
        packed = [kind]
        for field, form in self._fields[kind].items():
            packed.extend(form.numbers(getattr(step, field)))
        return packed

    def from_numbers(self, packed: list[int]) -> Step:
        """The step that `numbers` wrote; raises ValueError if the numbers are none."""
        feed = iter(packed)
        try:
            kind = next(feed)
            values = {field: form.take(feed) for field, form in self._fields[kind].items()}
        except (StopIteration, LookupError, TypeError, RuntimeError):
            raise ValueError("not a step") from None
        if next(feed, None) is not None:
            raise ValueError("more numbers than the step has")
        return self.kinds[kind].step(**values)

    def parts(self, step: Step) -> tuple[int, list[int]]:
        """The kind of a step, and its fields but for the seat."""
        kind, *numbers = self.numbers(step)
        return kind, numbers[1:] if "seat" in self._fields[kind] else numbers

    def from_parts(self, kind: int, seat: int, numbers: list[int]) -> Step:
        """The step of its parts; raises ValueError if they are none."""
        if not 0 <= kind < len(self.kinds) or min([0, *numbers]) < 0:
            raise ValueError("not a step")
        if "seat" not in self._fields[kind]:
            return self.from_numbers([kind, *numbers])
        if seat < 0:
            raise ValueError("the step asks somebody")
        return self.from_numbers([kind, seat, *numbers])

    def to_json(self, step: Step) -> dict[str, Any]:
        """A step in readable form."""
        kind = self._of_step[type(step)]
        fields = self._fields[kind].items()
        return {"step": self.kinds[kind].name} | {
            field: form.write(getattr(step, field)) for field, form in fields
        }

    def from_json(self, written: Mapping[str, Any]) -> Step:
        """The step of a readable form; raises ValueError with the reason if it is none."""
        name = written.get("step")
        if not isinstance(name, str) or name not in self._of_name:
            raise ValueError(f"unknown step {name!r}")
        kind = self._of_name[name]
        fields, keys = self._fields[kind], [key for key in written if key != "step"]
        if set(keys) != set(fields):
            expected = ", ".join(fields) or "no field"
            raise ValueError(f"step {name} has {expected}, found {', '.join(keys) or 'none'}")
        values = {}
        for field, form in fields.items():
            try:
                values[field] = form.read(written[field])
            except (ValueError, TypeError, LookupError, AttributeError):
                raise ValueError(f"{field}: {written[field]!r} is not {form.name}") from None
        return self.kinds[kind].step(**values)

    def describe(
        self, texts: Mapping[str, str], meanings: Mapping[str, str]
    ) -> list[description.StepKind]:
        """Every kind of step in words, given the texts of kinds and the meanings of fields."""
        return [
            description.StepKind(
                kind=number,
                name=kind.name,
                text=texts[kind.name],
                arguments=tuple(_arguments(self._fields[number], meanings)),
                asks=getattr(kind.step, "candidates", None) is not Step.candidates,
            )
            for number, kind in enumerate(self.kinds)
        ]


def _arguments(fields: Mapping[str, Form], meanings: Mapping[str, str]) -> Iterator[str]:
    for field, form in fields.items():
        if field == "seat":
            continue
        if form.many:
            yield f"{meanings[field]}: how many follow"
            yield f"each of them: {form.meaning()} …"
        else:
            meaning = form.meaning()
            yield f"{meanings[field]}: {meaning}" if meaning else meanings[field]
