"""The attacks of a siege, by their names."""

from tests.programs.siege.attacks import connections, giant_messages, strangers

FAMILIES = (giant_messages, connections, strangers)
ATTACKS = {attack.name: attack for family in FAMILIES for attack in family.ATTACKS}
