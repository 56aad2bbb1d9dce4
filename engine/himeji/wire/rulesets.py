"""Rulesets as messages: what a ruleset tells about itself, for those who have no engine."""

from collections.abc import Iterable
from typing import Final

from himeji.rules import description
from himeji.rules.ruleset import Ruleset
from himeji.v1 import rules_service_pb2 as messages
from himeji.v1.rules_service_pb2 import EventRole

ROLES: Final = {
    description.REPLAYED_ACTION: EventRole.EVENT_ROLE_ACTION,
    description.REVEALED_CHANCE: EventRole.EVENT_ROLE_CHANCE,
    description.CONSEQUENCE: EventRole.EVENT_ROLE_CONSEQUENCE,
}


def to_summary(ruleset: Ruleset) -> messages.RulesetSummary:
    """A ruleset in short."""
    summary = messages.RulesetSummary(
        name=ruleset.name,
        revision=ruleset.revision,
        title=ruleset.title,
        seat_counts=sorted(ruleset.seat_counts),
        has_rival=ruleset.has_rival,
        family=ruleset.family,
        reconstructed=ruleset.reconstructed(),
    )
    for option in ruleset.describe_options():
        summary.options.add(
            name=option.name,
            choices=option.choices,
            standard=option.standard,
            description=option.text,
        )
    return summary


def to_ruleset(ruleset: Ruleset) -> messages.Ruleset:
    """Everything about a ruleset."""
    message = messages.Ruleset(
        summary=to_summary(ruleset),
        components=[_component(each) for each in ruleset.describe_components()],
    )
    for part in ruleset.describe_board():
        message.board.add(
            id=part.id,
            kind=part.kind,
            number=part.number,
            description=part.text,
            faces=_faces(part.faces),
            facts=_facts(part.facts),
        )
    for action, text in sorted(ruleset.actions.texts.items()):
        message.actions.add(id=action, text=text)
    for step in ruleset.describe_steps():
        message.decision_kinds.add(
            kind=step.kind + 1,  # as in a position, where 0 would be left out
            name=step.name,
            description=step.text,
            arguments=step.arguments,
            asks=step.asks,
        )
    for event in ruleset.describe_events():
        message.event_kinds.add(
            kind=event.kind,
            name=event.name,
            description=event.text,
            numbers=event.numbers,
            role=ROLES[event.role],
        )
    for rule in ruleset.describe_rules():
        message.rules.add(id=rule.id, text=rule.text)
    return message


def _component(component: description.Component) -> messages.Component:
    return messages.Component(
        number=component.number,
        id=component.id,
        kind=component.kind,
        faces=_faces(component.faces),
        facts=_facts(component.facts),
        reconstructed=component.reconstructed,
        source=component.source,
        note=component.note,
    )


def _faces(faces: Iterable[description.Face]) -> list[messages.ComponentFace]:
    return [
        messages.ComponentFace(
            name=face.name, text=face.text, effects=_effects(face.effects), dark=face.dark
        )
        for face in faces
    ]


def _facts(facts: Iterable[tuple[str, int]]) -> list[messages.ComponentFact]:
    return [messages.ComponentFact(name=name, value=value) for name, value in facts]


def _effects(effects: Iterable[description.DescribedEffect]) -> list[messages.Effect]:
    return [
        messages.Effect(
            op=each.op,
            what=each.what,
            amount=each.amount,
            costs=_effects(each.costs),
            parts=_effects(each.parts),
        )
        for each in effects
    ]
