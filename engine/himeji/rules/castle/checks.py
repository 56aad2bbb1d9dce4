"""What every position must satisfy (B-8): everything that is found wrong, in words."""

from __future__ import annotations

from collections import Counter

from himeji.rules.castle.constants import (
    COURTIER_PLACES,
    DIPLOMAT_ROOMS,
    GARDEN_NAMES,
    MEMBERS,
    ON_DAIMYO_FLOOR,
    ROOMS,
    SPACE_NAMES,
    WELL_SPACE,
    YARDS,
)
from himeji.rules.castle.courtiers import Refill
from himeji.rules.castle.rounds import Phase, phases_now, round_is_over
from himeji.rules.castle.setup import EndOfDraft, PickPair, Start
from himeji.rules.castle.state import CastleGame
from himeji.rules.castle.turn import EnterSpace, PlaceDie, TakeDie
from himeji.rules.constants import COLOUR_NAMES
from himeji.rules.position_reader import step_faults, twice


def faults(game: CastleGame) -> list[str]:
    """Every reason why the position is impossible; empty if it is possible."""
    sections = [fault for section in game.rules.sections for fault in section.faults(game)]
    return [*_dice(game), *_spaces(game), *_members(game), *_cards(game), *sections, *_flow(game)]


def _dice(game: CastleGame) -> list[str]:
    found: list[str] = []
    per_colour = game.rules.dice_per_colour[game.clans]
    placed = Counter(die >> 3 for dice in game.spaces for die in dice)
    placed.update(n % 4 for n, value in enumerate(game.domain_dice) if value)
    placed.update([game.hand >> 3] if game.hand else [])
    on_bridges = 0
    for colour in game.rules.colours:
        name, centre = COLOUR_NAMES[colour], game.centre[colour]
        left, right = game.left[colour], game.right[colour]
        bridge = [value for value in (left, *centre, right) if value]
        on_bridges += len(bridge)
        if len(bridge) + placed[colour] != per_colour:
            found.append(
                f"{name} dice: {len(bridge)} on the bridge and {placed[colour]} elsewhere "
                f"instead of {per_colour} in all (B-1.1)"
            )
        if centre and not (left and right):
            found.append(f"bridges.{name}: dice in the centre and an empty end (B-2.4)")
        if bridge != sorted(bridge):
            found.append(f"bridges.{name}: the dice do not ascend from the left (B-2.2)")
    taking = any(isinstance(step, TakeDie) for step in game.stack)
    taken = max(game.turn - int(taking), 0)
    expected = per_colour * len(game.rules.colours) - taken
    if on_bridges != expected:
        found.append(
            f"bridges: {on_bridges} dice, after {taken} turns of the round "
            f"there are {expected} (B-2.1)"
        )
    return found


def _spaces(game: CastleGame) -> list[str]:
    """Dice that cannot lie where they do: too many, or of a colour that the space does not take."""
    found = []
    for number, dice in enumerate(game.spaces):
        name, area = game.tables.spaces[number].name, game.rules.areas[number]
        if number != WELL_SPACE and len(dice) > game.stacking:
            found.append(f"spaces.{name}: {len(dice)} dice, {game.stacking} fit (B-2.6)")
        for colour in sorted({die >> 3 for die in dice if die and game.beside}):
            if not area.accepts(game, number, colour) and not _ignored(game, number, colour):
                sentence, rule = area.colour_refusal(number, colour)
                die = f"a {COLOUR_NAMES[colour]} die"
                found.append(f"spaces.{name}: {die}, but {sentence} ({rule})")
    return found


def _ignored(game: CastleGame, space: int, colour: int) -> bool:
    return any(section.ignores_colour(game, space, colour) for section in game.rules.sections)


def _members(game: CastleGame) -> list[str]:
    found = []
    for seat in range(game.clans):
        at = seat * COURTIER_PLACES
        courtiers = sum(game.courtiers[at : at + COURTIER_PLACES])
        if courtiers != MEMBERS:
            found.append(f"clans[{seat}].courtiers: {courtiers} instead of {MEMBERS} (B-1.8)")
        gardeners = game.gardeners[seat].bit_count()
        if gardeners > MEMBERS:
            found.append(f"clans[{seat}].gardeners: {gardeners}, a clan has {MEMBERS} (B-1.8)")
        warriors = sum(game.warriors[seat * YARDS : seat * YARDS + YARDS])
        if warriors > MEMBERS:
            found.append(f"clans[{seat}].warriors: {warriors}, a clan has {MEMBERS} (B-1.8)")
        slots = game.slots.count(seat + 1)
        if slots > game.courtiers[at + ON_DAIMYO_FLOOR]:
            found.append(
                f"daimyo.slots: {slots} courtiers of seat {seat}, "
                f"{game.courtiers[at + ON_DAIMYO_FLOOR]} are on the floor (B-4.5)"
            )
    return found


def _places(game: CastleGame) -> list[tuple[int, str]]:
    """Every component with the place where it lies."""
    places = [(tile, "tiles") for tile in game.tiles]
    places += [(card, f"rooms.{SPACE_NAMES[room]}") for room, card in enumerate(game.rooms)]
    for section in game.rules.sections:
        places += section.places(game)
    for pile in game.rules.decks:
        places += [(card, f"decks.{game.rules.pile_names[pile]}") for card in game.unseen[pile]]
    places += [(card, "gardens") for card in game.gardens]
    places += [(tile, "yard_tiles") for tile in game.yard_tiles]
    places += [(card, "pairs") for card in game.pairs]
    for seat in range(game.clans):
        places.append((game.action_card[seat], f"clans[{seat}].action_card"))
        places += [(card, f"clans[{seat}].lantern") for card in game.lanterns[seat]]
    return [(number, place) for number, place in places if number]


def _cards(game: CastleGame) -> list[str]:
    tables, places = game.tables, _places(game)
    seen = {number for number, _ in places}
    found = twice(places, tables.names, "B-8")
    found += [
        f"{tables.names[number]} is out of a game of two clans (B-1.2)"
        for number, _ in places
        if _left_out(game, number)
    ]
    found += [
        f"{tables.names[number]} is nowhere (B-8)"
        for kind in game.rules.kept
        for number in tables.kinds[kind]
        if number not in seen and not _left_out(game, number)
    ]
    shining = {card for area in game.lanterns for card in area}
    found += [
        f"{tables.names[decree]} shines, and {tables.names[number]}, which brings it, is still to "
        f"be taken (B-1.7)"
        for number, decree in [(number, tables.of(number).decree) for number in seen - shining]
        if decree in shining
    ]
    return found + _rooms(game) + _gardens(game)


def _left_out(game: CastleGame, number: int) -> bool:
    return game.clans <= 2 and game.tables.of(number).diamond


def _rooms(game: CastleGame) -> list[str]:
    found = []
    waiting = {step.room for step in game.stack if isinstance(step, Refill)}
    for room in range(ROOMS):
        where = f"rooms.{SPACE_NAMES[room]}"
        card, kind = game.rooms[room], "diplomat" if room in DIPLOMAT_ROOMS else "steward"
        if card == 0 and room not in waiting:
            found.append(f"{where}: no card lies there (B-1.2)")
        if card and game.tables.of(card).kind != kind:
            found.append(f"{where}: {game.tables.names[card]} is not a {kind} (B-1.2)")
        if card and room in waiting:
            found.append(f"{where}: a card lies there and is still to come (B-4.4)")
    if game.daimyo == 0:
        found.append("daimyo.card: no card lies there (B-1.3)")
    return found


def _gardens(game: CastleGame) -> list[str]:
    return [
        f"gardens.{GARDEN_NAMES[garden]}: {game.tables.names[card]} is of the other kind (B-1.5)"
        for garden, card in enumerate(game.gardens)
        if card and game.tables.of(card).plant is (garden % 2 == 1)
    ]


def _flow(game: CastleGame) -> list[str]:
    found = []
    if not 1 <= game.round <= game.rules.rounds:
        found.append(f"round: {game.round}, rounds are 1 to {game.rules.rounds} (B-2.1)")
    if game.over and game.stack:
        found.append("pending: the game is over and something is still to be done")
    if game.over and not (round_is_over(game) and game.round == game.rules.rounds):
        turns = game.rules.rounds * game.rules.turns
        found.append(f"over: a finished game has had {turns} turns of every clan (B-8)")
    found += [
        f"clans[{seat}].action_card: missing after the set-up (B-1.7)"
        for seat in range(game.seats)
        if not game.drafting and game.action_card[seat] == 0
    ]
    placing = any(isinstance(step, PlaceDie) for step in game.stack)
    if bool(game.hand) != placing:
        found.append("hand: a die is in hand just while it is to be placed (B-2.3)")
    return found + _set_up(game) + _pending(game)


def _set_up(game: CastleGame) -> list[str]:
    found = []
    ends = [number for number, step in enumerate(game.stack) if isinstance(step, EndOfDraft)]
    if ends != [0] * game.drafting:
        found.append(
            "set_up: it is true just while the end of the draft is pending, below all else (B-1.7)"
        )
    if game.drafting and (game.round, game.turn) != (1, 0):
        found.append("turn: no turn begins during the set-up (B-1.7)")
    if game.pairs and not game.drafting:
        found.append("pairs: the left-over pair leaves the game after the set-up (B-1.7)")
    return found + _draft(game) if game.drafting else found


def _draft(game: CastleGame) -> list[str]:
    """Every seat without starting cards gets them once, and does nothing else before."""
    found = []
    picks = [step.seat for step in game.stack if isinstance(step, PickPair)]
    whole = [bool(card) for card in game.pairs]
    if picks and (whole[0::2] != whole[1::2] or len(whole) != 2 * (game.seats + 1)):
        found.append(f"pairs: {game.seats + 1} pairs, whole or picked, are laid out (B-1.7)")
    if picks and sum(whole[0::2]) != len(picks) + 1:
        found.append(f"pairs: {sum(whole[0::2])} are left, {len(picks)} are to be picked (B-1.7)")
    for seat in range(game.seats):
        starts = [isinstance(step, Start) for step in game.stack if step.seat == seat]
        if game.action_card[seat] == 0 and not (starts and all(starts)):
            found.append(f"clans[{seat}].action_card: missing, and none is to be taken (B-1.7)")
        if any(starts) and (game.action_card[seat] or picks.count(seat) > 1):
            found.append(f"pending: seat {seat} takes its starting cards once (B-1.7)")
    return found


def _pending(game: CastleGame) -> list[str]:
    found = []
    turns = [step for step in game.stack if isinstance(step, TakeDie | PlaceDie)]
    if len(turns) > 1:
        found.append("pending: one turn comes after the other (B-2.1)")
    if turns and game.turn == 0:
        found.append("turn: a turn is pending that has not begun (B-2.1)")
    return found + _end_of_round(game) + step_faults(game)


def _end_of_round(game: CastleGame) -> list[str]:
    """What comes after the last turn: its phases lie below all else, the next one highest."""
    phases = [step for step in game.stack if isinstance(step, Phase)]
    last = len(phases_now(game)) - 1
    numbers = [step.number for step in phases]
    if numbers != list(range(last, last - len(phases), -1)) or phases != game.stack[: len(phases)]:
        return ["pending: phases come one after the other, all else before them (B-7.1)"]
    if phases and any(isinstance(step, TakeDie | PlaceDie | EnterSpace) for step in game.stack):
        return ["pending: the last turn comes before the end of the round (B-7.1)"]
    return []
