"""The attacks of a siege, by their names."""

from tests.programs.siege.attacks import (
    connections,
    games,
    giant_messages,
    ladder,
    page,
    strangers,
)

FAMILIES = (giant_messages, connections, strangers, games, page, ladder)
ATTACKS = {attack.name: attack for family in FAMILIES for attack in family.ATTACKS}
