"""The vocabulary of the castle family: every icon as a word with a frozen number."""

from __future__ import annotations

from collections.abc import Callable

from himeji.rules.castle.constants import (
    COURTIER,
    FIRST,
    GARDENER,
    IN_DOMAIN,
    PART_NAMES,
    WARRIOR,
    WORKER_NAMES,
)
from himeji.rules.castle.gains import GainSeals
from himeji.rules.castle.icons import (
    ANY_FILTER,
    DARK_FILTER,
    LIGHT_FILTER,
    CastleRow,
    DomainRow,
    Lantern,
    Well,
)
from himeji.rules.castle.influence import GainInfluence
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
from himeji.rules.castle.solo.rival_actions import (
    EITHER_KIND,
    RivalAudience,
    RivalClimb,
    RivalGain,
    RivalGardener,
    RivalInfluence,
    RivalWarrior,
)
from himeji.rules.castle.workers import Worker
from himeji.rules.constants import CHASEN, COIN, GOOD_NAMES, INFLUENCE, RESOURCES, SEAL, VP
from himeji.rules.effects import Effect, Vocabulary
from himeji.rules.gains import Gain, GainAny


def part(name: str) -> int:
    """The action id that takes a part of this name first."""
    if name in PART_NAMES:
        return FIRST + PART_NAMES.index(name)
    return FIRST_OF_MATCHA + MATCHA_PART_NAMES.index(name)


def tea_words(words: Vocabulary) -> Vocabulary:
    """Add what Matcha's components show."""
    words.word(CHASEN, GOOD_NAMES[CHASEN], _gain(CHASEN))
    words.word(14, "geisha", lambda _, code: GeishaIcon(code, part("geisha")))
    words.word(22, "castle-row dark", _castle_row(DARK_FILTER, "castle-row dark"))
    for worker in (COURTIER, GARDENER, WARRIOR):
        words.word(23 + worker, f"{WORKER_NAMES[worker]} or geisha", _worker_or_geisha(worker))
    icons: list[tuple[str, Callable[[str, int, int], Effect]]] = [
        ("lilies", _icon(Lilies)),
        ("castle-rows light", _icon(LightRowsIcon)),
        ("yard-tile blue", _icon(YardTilesIcon)),
        ("yard-tiles yellow", _icon(YardTilesIcon)),
        ("stone-gardens", _icon(StoneGardensIcon)),
        ("geisha-step", _icon(GeishaStepIcon)),
        ("climb-floor", _icon(ClimbIcon)),
        ("curtain yellow", CurtainIcon),
        ("curtains yellow", CurtainIcon),
        ("curtain blue free", CurtainIcon),
        ("curtains of a card", CurtainIcon),
    ]
    for number, (text, make) in enumerate(icons):
        words.word(26 + number, text, _made(text, make))
    return words


def _icon(kind: Callable[..., Effect]) -> Callable[[str, int, int], Effect]:
    return lambda text, code, order: kind(text, code, order, plain=False)


def _made(text: str, make: Callable[[str, int, int], Effect]) -> Callable[[int, int], Effect]:
    return lambda _, code: make(text, code, part(text))


def _worker_or_geisha(worker: int) -> Callable[[int, int], Effect]:
    text = f"{WORKER_NAMES[worker]} or geisha"
    return lambda _, code: WorkerOrGeisha(worker, text, code, part(text))


def base_vocabulary() -> Vocabulary:
    """The words of the base game."""
    words = Vocabulary()
    for good in (*RESOURCES, COIN, VP):
        words.word(good, GOOD_NAMES[good], _gain(good))
    words.word(SEAL, "seal", lambda amount, code: GainSeals(amount, code, part("seal")))
    words.word(
        INFLUENCE, "influence", lambda amount, code: GainInfluence(amount, code, part("influence"))
    )
    words.word(8, "any", lambda amount, code: GainAny(amount, code, part("any")))
    words.word(9, "lantern", lambda _, code: Lantern("lantern", code, part("lantern"), plain=False))
    words.word(10, "well", lambda _, code: Well("well", code, part("well"), plain=False))
    kinds = {"light": LIGHT_FILTER, "any": ANY_FILTER, "coral": 0, "black": 1, "white": 2}
    for number, (name, kind) in enumerate(kinds.items()):
        words.word(16 + number, f"castle-row {name}", _castle_row(kind, f"castle-row {name}"))
    words.word(
        21,
        "domain-row",
        lambda _, code: DomainRow("domain-row", code, part("domain-row"), plain=False),
    )
    for worker, name in enumerate(WORKER_NAMES[:3]):
        words.word(11 + worker, name, _worker(worker))
    return words


def rival_words(words: Vocabulary) -> Vocabulary:
    """Add the actions of solitaire cards (S-6)."""
    for number, good in enumerate((COIN, VP)):
        words.word(48 + number, f"rival-{GOOD_NAMES[good]}", _rival_gain(good))
    words.word(
        50,
        "rival-influence",
        lambda amount, code: RivalInfluence(amount, f"{amount} rival-influence", code),
    )
    words.word(51, "rival-audience", lambda _, code: RivalAudience("rival-audience", code))
    for kind, name in enumerate(("plant", "stone", "either")):
        words.word(52 + kind, f"rival-gardener {name}", _rival_gardener(kind, name))
    for number, iron in enumerate((1, 3, 5)):
        words.word(55 + number, f"rival-warrior {iron}", _rival_warrior(iron))
    for floors in (1, 2):
        words.word(57 + floors, f"rival-climb {floors}", _rival_climb(floors))
    return words


def tea_rival_words(words: Vocabulary) -> Vocabulary:
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


def _rival_warrior(iron: int) -> Callable[[int, int], Effect]:
    return lambda _, code: RivalWarrior(iron, f"rival-warrior {iron}", code)


def _rival_climb(floors: int) -> Callable[[int, int], Effect]:
    return lambda _, code: RivalClimb(floors, f"rival-climb {floors}", code)


def _rival_gain(good: int) -> Callable[[int, int], Effect]:
    return lambda n, code: RivalGain(good, n, f"{n} rival-{GOOD_NAMES[good]}", code)


def _rival_gardener(kind: int, name: str) -> Callable[[int, int], Effect]:
    wanted = EITHER_KIND if name == "either" else kind
    return lambda _, code: RivalGardener(wanted, f"rival-gardener {name}", code)


def _worker(worker: int) -> Callable[[int, int], Effect]:
    return lambda _, code: Worker(worker, code, part(WORKER_NAMES[worker]))


def _gain(good: int) -> Callable[[int, int], Effect]:
    return lambda amount, code: Gain(good, amount, code, part("gains"))


def _castle_row(kind: int, text: str) -> Callable[[int, int], Effect]:
    return lambda _, code: CastleRow(kind, text, code, part(text))
