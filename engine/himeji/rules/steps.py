"""Kinds of steps by name, so that a stack of pending steps can be written down and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from himeji.rules import description
from himeji.rules.game import Step
from himeji.rules.step_fields import FieldType, Flag, RuleId


class StepKind:
    """A kind of step: its name, how to build one, and its fields with their types, in order.

    A type that depends on the ruleset is named; the codec is given the types by their names.
    """

    def __init__(self, name: str, step: Callable[..., Step], **fields: FieldType | str) -> None:
        self.name = name
        self.step = step
        self.fields = fields


NUMBER = FieldType()
FLAG = Flag()
RULE = RuleId()


class StepCodec:
    """Writes the steps of a ruleset as numbers and as JSON, and reads them back."""

    def __init__(self, kinds: tuple[StepKind, ...], types: Mapping[str, FieldType]) -> None:
        self.kinds = kinds
        self._fields: list[dict[str, FieldType]] = [
            {
                field: types[field_type] if isinstance(field_type, str) else field_type
                for field, field_type in kind.fields.items()
            }
            for kind in kinds
        ]
        self._of_step: dict[Any, int] = {kind.step: number for number, kind in enumerate(kinds)}
        self._of_name = {kind.name: number for number, kind in enumerate(kinds)}

    def fields(self, kind: int) -> Mapping[str, FieldType]:
        """The fields of a kind of step with their types, in the order of their numbers."""
        return self._fields[kind]

    def name(self, step: Step) -> str:
        """The name of a step's kind."""
        return self.kinds[self._of_step[type(step)]].name

    def numbers(self, step: Step) -> list[int]:
        """The kind of a step and its fields."""
        kind = self._of_step[type(step)]
        packed = [kind]
        for field, field_type in self._fields[kind].items():
            packed.extend(field_type.numbers(getattr(step, field)))
        return packed

    def from_numbers(self, packed: list[int]) -> Step:
        """The step that `numbers` wrote; raises ValueError if the numbers are none."""
        feed = iter(packed)
        try:
            kind = next(feed)
            values = {
                field: field_type.take(feed) for field, field_type in self._fields[kind].items()
            }
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
            field: field_type.write(getattr(step, field)) for field, field_type in fields
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
        for field, field_type in fields.items():
            try:
                values[field] = field_type.read(written[field])
            except (ValueError, TypeError, LookupError, AttributeError):
                raise ValueError(f"{field}: {written[field]!r} is not {field_type.name}") from None
        return self.kinds[kind].step(**values)

    def describe(
        self, texts: Mapping[str, str], meanings: Mapping[str, str]
    ) -> list[description.DescribedStep]:
        """Every kind of step in words, given the texts of kinds and the meanings of fields."""
        return [
            description.DescribedStep(
                kind=number,
                name=kind.name,
                text=texts[kind.name],
                arguments=tuple(_arguments(self._fields[number], meanings)),
                asks=getattr(kind.step, "candidates", None) is not Step.candidates,
            )
            for number, kind in enumerate(self.kinds)
        ]


def _arguments(fields: Mapping[str, FieldType], meanings: Mapping[str, str]) -> Iterator[str]:
    for field, field_type in fields.items():
        if field == "seat":
            continue
        if field_type.many:
            yield f"{meanings[field]}: how many follow"
            yield f"each of them: {field_type.meaning()} …"
        else:
            meaning = field_type.meaning()
            yield f"{meanings[field]}: {meaning}" if meaning else meanings[field]
