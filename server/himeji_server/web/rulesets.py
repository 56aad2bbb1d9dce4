"""The data of the pages about rulesets, from the descriptions of the rulesets themselves."""

from __future__ import annotations

from collections.abc import Iterable

from himeji import rules
from himeji.rules.description import MADE_UP, BoardPart, Component, Face
from himeji.rules.ruleset import Ruleset

from himeji_server.web import schemas


def summaries() -> schemas.Rulesets:
    """The summaries of all rulesets."""
    return {"rulesets": [_summary(each) for each in rules.RULESETS.values()]}


def details(name: str) -> schemas.Ruleset:
    """A ruleset: rules, components, boards, action table; raises UnknownRuleset."""
    found = rules.ruleset(name)
    return {
        "summary": _summary(found),
        "rules": [{"id": rule.id, "text": rule.text} for rule in found.describe_rules()],
        "components": [_component(each) for each in found.describe_components()],
        "board": [_part(each) for each in found.describe_board()],
        "actions": [{"id": id_, "text": text} for id_, text in found.actions.texts.items()],
    }


def _summary(ruleset: Ruleset) -> schemas.RulesetSummary:
    return {
        "name": ruleset.name,
        "title": ruleset.title,
        "revision": ruleset.revision,
        "family": ruleset.family,
        "seat_counts": sorted(ruleset.seat_counts),
        "has_rival": ruleset.has_rival,
        "reconstructed": ruleset.reconstructed(),
        "options": [
            {
                "name": option.name,
                "choices": list(option.choices),
                "standard": option.standard,
                "text": option.text,
            }
            for option in ruleset.describe_options()
        ],
    }


def _component(component: Component) -> schemas.Component:
    return {
        "id": component.id,
        "kind": component.kind,
        "text": "",
        "faces": _faces(component.faces),
        "facts": dict(component.facts),
        "reconstructed": component.reconstructed,
        "source": component.source,
        "note": component.note,
    }


def _part(part: BoardPart) -> schemas.Component:
    return {
        "id": part.id,
        "kind": part.kind,
        "text": part.text,
        "faces": _faces(part.faces),
        "facts": dict(fact for fact in part.facts if fact != MADE_UP),  # the label says it
        "reconstructed": part.reconstructed,
        "source": "",
        "note": "",
    }


def _faces(faces: Iterable[Face]) -> list[schemas.Face]:
    return [{"name": face.name, "text": face.text, "dark": face.dark} for face in faces]
