"""The icons of Matcha as words, each with a frozen number."""

from __future__ import annotations

from collections.abc import Callable

from himeji.rules.castle.constants import COURTIER, GARDENER, IN_DOMAIN, WARRIOR, WORKER_NAMES
from himeji.rules.castle.icons import DARK_FILTER, CastleRow
from himeji.rules.castle.matcha.ceremonies import (
    ClimbIcon,
    LightRowsIcon,
    StoneGardensIcon,
    WorkerOrGeisha,
    YardTilesIcon,
)
from himeji.rules.castle.matcha.constants import (
    AT_ENTRANCE,
    FIRST_OF_MATCHA,
    GEISHA_PLACE_NAMES,
    MATCHA_PART_NAMES,
    ON_STEP_1,
    ON_STEP_2,
)
from himeji.rules.castle.matcha.curtains import CurtainIcon
from himeji.rules.castle.matcha.geishas import GeishaIcon, GeishaStepIcon, Lilies
from himeji.rules.castle.matcha.rival import (
    RivalGeisha,
    RivalInfluenceBack,
    RivalLosesCoins,
    RivalLosesPoints,
    RivalWalk,
    walk_word,
)
from himeji.rules.castle.vocabulary import gain_of
from himeji.rules.constants import CHASEN, GOOD_NAMES
from himeji.rules.effects import Effect, Vocabulary


def matcha_part(name: str) -> int:
    """The action id that takes a part of this name first."""
    return FIRST_OF_MATCHA + MATCHA_PART_NAMES.index(name)


def add_matcha_words(words: Vocabulary) -> Vocabulary:
    """Add what Matcha's components show."""
    words.word(CHASEN, GOOD_NAMES[CHASEN], gain_of(CHASEN))
    words.word(14, "geisha", lambda _, code: GeishaIcon(code, matcha_part("geisha")))
    words.word(
        22,
        "castle-row dark",
        lambda _, code: CastleRow(
            DARK_FILTER, "castle-row dark", code, matcha_part("castle-row dark")
        ),
    )
    for worker in (COURTIER, GARDENER, WARRIOR):
        words.word(23 + worker, f"{WORKER_NAMES[worker]} or geisha", _worker_or_geisha(worker))
    icons: list[tuple[str, Callable[[str, int, int], Effect]]] = [
        ("lilies", Lilies),
        ("castle-rows light", LightRowsIcon),
        ("yard-tile blue", YardTilesIcon),
        ("yard-tiles yellow", YardTilesIcon),
        ("stone-gardens", StoneGardensIcon),
        ("geisha-step", GeishaStepIcon),
        ("climb-floor", ClimbIcon),
        ("curtain yellow", CurtainIcon),
        ("curtains yellow", CurtainIcon),
        ("curtain blue free", CurtainIcon),
        ("curtains of a card", CurtainIcon),
    ]
    for number, (text, make) in enumerate(icons):
        words.word(26 + number, text, _made(text, make))
    return words


def _made(text: str, make: Callable[[str, int, int], Effect]) -> Callable[[int, int], Effect]:
    return lambda _, code: make(text, code, matcha_part(text))


def _worker_or_geisha(worker: int) -> Callable[[int, int], Effect]:
    text = f"{WORKER_NAMES[worker]} or geisha"
    return lambda _, code: WorkerOrGeisha(worker, text, code, matcha_part(text))


def add_matcha_solo_words(words: Vocabulary) -> Vocabulary:
    """Add the actions of Matcha's solitaire cards (M-12.5)."""
    for number, place in enumerate((AT_ENTRANCE, ON_STEP_1, ON_STEP_2)):
        words.word(60 + number, f"rival-geisha {GEISHA_PLACE_NAMES[place]}", _rival_geisha(place))
    for number, spared in enumerate((IN_DOMAIN, AT_ENTRANCE, ON_STEP_1, ON_STEP_2)):
        words.word(63 + number, walk_word(spared), _rival_walk(spared))
        words.parse(walk_word(spared))  # no card shows them all, but positions may
    words.word(
        67,
        "rival-loses-vp",
        lambda amount, code: RivalLosesPoints(amount, f"{amount} rival-loses-vp", code),
    )
    words.word(68, "rival-loses-coins", lambda _, code: RivalLosesCoins("rival-loses-coins", code))
    words.word(
        69,
        "rival-influence-back",
        lambda amount, code: RivalInfluenceBack(amount, f"{amount} rival-influence-back", code),
    )
    return words


def _rival_geisha(place: int) -> Callable[[int, int], Effect]:
    text = f"rival-geisha {GEISHA_PLACE_NAMES[place]}"
    return lambda _, code: RivalGeisha(place, text, code)


def _rival_walk(spared: int) -> Callable[[int, int], Effect]:
    return lambda _, code: RivalWalk(spared, code)
