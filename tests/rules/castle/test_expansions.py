"""Solo and Matcha stay in their folders: what the family shares does not know them."""

import re
from pathlib import Path

import pytest
from himeji.rules import castle
from himeji.rules.castle.matcha.texts import matcha_solo_texts, matcha_texts
from himeji.rules.castle.solo.texts import solo_texts
from himeji.rules.castle.texts import base_texts

FOLDER = Path(castle.__file__).parent
SHARED = sorted(FOLDER.glob("*.py"))
OWN = re.compile(
    r"matcha|geisha|chasen|\btea\b|tea[-_]|ceremon|lil(y|ies)\b|overlook|outskirts|curtain|"
    r"solitaire|rival[-_ ](deed|action|garden|climb|room)",
    re.IGNORECASE,
)
# Where a shared module says which numbers are taken, or that an expansion may follow.
ALLOWED = {"constants.py": {"solo/constants.py and matcha/constants.py"}}


@pytest.mark.parametrize("path", SHARED, ids=lambda path: path.name)
def test_a_shared_module_knows_no_expansion(path):
    text = path.read_text(encoding="utf-8")
    for phrase in ALLOWED.get(path.name, ()):
        text = text.replace(phrase, "")
    found = [line.strip() for line in text.splitlines() if OWN.search(line)]
    assert found == [], f"what is in {path.name} for one expansion belongs into its folder"


def test_no_two_rulesets_of_the_family_give_one_action_id_two_meanings():
    seen = {}
    for texts in (base_texts(), solo_texts(), matcha_texts(), matcha_solo_texts()):
        assert not seen.keys() & texts.keys()
        seen |= texts
