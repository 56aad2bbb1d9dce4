"""What every position of Duel must satisfy: everything that is found wrong, in words."""

from __future__ import annotations

from collections import Counter

from himeji.rules.constants import COIN, COLOUR_NAMES, SEAL
from himeji.rules.duel.cards import Scroll, ScrollEffects, TakeTop
from himeji.rules.duel.constants import (
    COLOURS,
    COLUMN_NAMES,
    COLUMNS,
    DECK_NAMES,
    LOCATION_NAMES,
    OUTGOING,
    RETURN,
    SEATS,
    STACK,
    STACK_NAMES,
    STACKS,
    TOKENS,
    TURNS,
    YARD_NAMES,
    YARDS,
)
from himeji.rules.duel.payments import PayPieces, PayResources
from himeji.rules.duel.position import masked
from himeji.rules.duel.rounds import EndOfGame, LastExchange, is_played_out
from himeji.rules.duel.setup import FIRST_GAME, EndOfDraft, PickStart
from himeji.rules.duel.state import DuelGame
from himeji.rules.duel.trade import TakeWare
from himeji.rules.duel.turn import MoveToken
from himeji.rules.position_reader import step_faults, twice

ALL_IN_PLAY = ("influence-card", "lantern-card", "activation-tile", "location-tile")
WARES = ("common-merchandise", "luxury-merchandise")
PAYING = {TakeTop: 1, TakeWare: 1, Scroll: 1, ScrollEffects: 1, PayResources: 2, PayPieces: 3}
"""Purchases, scrolls and payments: those with higher numbers come first (D-6.1)."""


def faults(game: DuelGame) -> list[str]:
    """Every reason why the position is impossible; empty if it is possible."""
    return [
        *_tokens(game),
        *_holdings(game),
        *_seals(game),
        *_courtiers(game),
        *_components(game),
        *_decks(game),
        *_zones(game),
        *_layout(game),
        *_flow(game),
        *_pending(game),
    ]


def _turns_of(game: DuelGame, seat: int) -> int:
    """How many tokens a seat has moved in this round."""
    moving = any(isinstance(step, MoveToken) for step in game.stack)
    moved = max(game.turn - int(moving), 0)
    return (moved + int(seat == game.starter)) // SEATS


def _tokens(game: DuelGame) -> list[str]:
    found = []
    placed = Counter(colour for stack in game.stacks for colour in stack)
    for colour in range(COLOURS):
        total = placed[colour] + sum(game.tokens[colour::COLOURS])
        if total != SEATS * TOKENS:
            name = COLOUR_NAMES[colour]
            found.append(f"{name} tokens: {total} instead of {SEATS * TOKENS} in all (D-4.10)")
    for number, stack in enumerate(game.stacks):
        where = f"locations.{LOCATION_NAMES[number]}.tokens"
        if len(stack) > STACK or len(set(stack)) != len(stack):
            found.append(f"{where}: a stack has at most {STACK} tokens, all different (D-5.3)")
        tile = game.locations[number] if game.locations else 0
        if tile and stack and game.tables.of(tile).colour == stack[0]:
            found.append(f"{where}: the first token has the colour of the tile (D-5.3)")
    for seat in range(game.clans):
        own = game.tokens[seat * COLOURS : seat * COLOURS + COLOURS]
        moved = _turns_of(game, seat)
        expected = moved if game.round == RETURN else COLOURS * TOKENS - moved
        if sum(own) != expected:
            found.append(
                f"clans[{seat}].tokens: {sum(own)}, after {moved} turns of the round "
                f"a seat has {expected} (D-5.1)"
            )
        if game.round == OUTGOING and max(own) > TOKENS:
            found.append(f"clans[{seat}].tokens: a seat begins with {TOKENS} of a colour (D-4.10)")
    return found


def _holdings(game: DuelGame) -> list[str]:
    found = []
    for seat in range(game.clans):
        held = game.has(seat, COIN) + game.has(seat, SEAL)
        if held > game.tables.storage:
            most = game.tables.storage
            found.append(f"clans[{seat}]: {held} coins and seals, {most} fit (D-7.1)")
    return found


def _seals(game: DuelGame) -> list[str]:
    found = []
    for seat in range(game.clans):
        placed = game.seals_placed(seat)
        if placed > game.tables.clan_seals:
            most = game.tables.clan_seals
            found.append(f"clans[{seat}]: {placed} Clan Seals on the board, a seat has {most}")
    for column in range(COLUMNS):
        taken = sum(game.garden_seals[column::COLUMNS])
        if taken > game.tables.column_spaces:
            where = f"garden_seals.{COLUMN_NAMES[column]}"
            found.append(f"{where}: {taken}, {game.tables.column_spaces} fit (D-3.3)")
    for yard in range(YARDS):
        taken, most = sum(game.yard_seals[yard::YARDS]), game.tables.yard_spaces[yard]
        if taken > most:
            found.append(f"yard_seals.{YARD_NAMES[yard]}: {taken}, {most} fit (D-3.4)")
    return found


def _courtiers(game: DuelGame) -> list[str]:
    found = []
    if any(game.paths) and sorted(game.paths) != [1, 2]:
        found.append("clans: the seats have different paths, or none has one (D-6.4)")
    if any(game.courtiers) != any(game.paths):
        found.append("clans: the first move of a courtier picks the paths (D-6.4)")
    return found


def _places(game: DuelGame) -> list[tuple[int, str]]:
    """Every component with the place where it lies."""
    places = [(tile, "activation") for tile in game.slots]
    places += [(tile, "locations") for tile in game.locations]
    places += [(card, f"decks.{DECK_NAMES[deck]}") for deck, card in enumerate(game.tops)]
    places += [(card, "unseen_cards") for card in game.unseen]
    places += [(card, "lantern_cards") for card in game.display]
    places += [(card, "lantern_deck") for card in game.lanterns]
    places += [(card, "start_cards") for card in game.offers]
    places += [(tile, "gardens") for tile in game.gardens]
    places += [(tile, "yards") for tile in game.yards]
    places += [(tile, "paths") for tile in game.social]
    for stack, name in enumerate(STACK_NAMES):
        tiles = (game.wares[stack], *game.hidden_wares[stack])
        places += [(tile, f"merchandise.{name}") for tile in tiles]
    for seat in range(game.clans):
        path = f"clans[{seat}]."
        zones = game.zones[seat * COLOURS : seat * COLOURS + COLOURS]
        places += [(card, f"{path}zones") for zone in zones for card in zone]
        places += [(card, f"{path}cards") for card in masked(game.cards[seat])]
        places += [(card, f"{path}improved") for card in masked(game.improved[seat])]
        places += [(tile, f"{path}merchandise") for tile in game.bought[seat]]
    return [(number, place) for number, place in places if number]


def _components(game: DuelGame) -> list[str]:
    places = _places(game)
    seen = {number for number, _ in places}
    found = twice(places, game.tables.names, "D-4.1")
    found += [
        f"{game.tables.names[number]} is nowhere (D-4.1)"
        for kind in (*ALL_IN_PLAY, *WARES)
        for number in game.tables.kinds[kind]
        if number not in seen
    ]
    laid = {"gardens": game.gardens, "yards": game.yards, "paths": game.social}
    found += [f"{key}: a tile is missing (D-4.1)" for key, tiles in laid.items() if 0 in tiles]
    return found


def _decks(game: DuelGame) -> list[str]:
    found = []
    if sum(game.below) != len(game.unseen):
        found.append(
            f"unseen_cards: {len(game.unseen)}, below the tops lie {sum(game.below)} (D-4.2)"
        )
    for deck, name in enumerate(DECK_NAMES):
        if game.below[deck] and not game.tops[deck]:
            found.append(f"decks.{name}: the top card of a deck shows (D-4.2)")
    if game.lanterns and 0 in game.display:
        found.append("lantern_cards: the display is refilled at once (D-8.3)")
    found += [
        f"merchandise.{STACK_NAMES[stack]}: the top tile shows (D-4.8)"
        for stack in range(STACKS)
        if game.hidden_wares[stack] and not game.wares[stack]
    ]
    return found


def _zones(game: DuelGame) -> list[str]:
    found = []
    waiting = [step.seat for step in game.stack if isinstance(step, PickStart)]
    for seat in range(game.clans):
        starts = 0
        for colour in range(COLOURS):
            for card in game.zones[seat * COLOURS + colour]:
                component = game.tables.of(card) if card else None
                if component is None:
                    continue
                starts += component.kind == "start-card"
                if component.colour != colour:
                    where = f"clans[{seat}].zones.{COLOUR_NAMES[colour]}"
                    found.append(f"{where}: {component.id} is of another colour (D-8.3)")
        if starts + waiting.count(seat) != 1:
            found.append(f"clans[{seat}].zones: {starts} start cards, a seat picks one (D-4.10)")
    return found


def _layout(game: DuelGame) -> list[str]:
    if game.options["layout"] != FIRST_GAME:
        return []
    fixed = game.tables.first_game
    laid = {
        "locations": (game.locations, fixed["location-tile"]),
        "gardens": (game.gardens, fixed["garden-tile"]),
        "paths": (game.social, fixed["social-tile"]),
        "yards": (game.yards, (*fixed["basic-yard"], *fixed["elite-yard"])),
    }
    return [
        f"{key}: the tiles lie otherwise in the layout {FIRST_GAME} (D-4.1)"
        for key, (tiles, expected) in laid.items()
        if tiles != expected
    ]


def _flow(game: DuelGame) -> list[str]:
    found = []
    if game.round not in (OUTGOING, RETURN):
        found.append(f"round: {game.round}, rounds are {OUTGOING} and {RETURN} (D-5.1)")
    if game.over and game.stack:
        found.append("pending: the game is over and something is still to be done")
    if game.over and not is_played_out(game):
        found.append(f"over: a finished game has had {2 * TURNS} turns (D-5.1)")
    ends = [number for number, step in enumerate(game.stack) if isinstance(step, EndOfDraft)]
    if ends != [0] * game.drafting:
        found.append(
            "set_up: it is true just while the end of the draft is pending, below all else (D-4.10)"
        )
    if game.drafting and (game.round, game.turn) != (OUTGOING, 0):
        found.append("turn: no turn begins during the set-up (D-4.10)")
    if bool(game.offers) != game.drafting:
        found.append("start_cards: they are there just during the set-up (D-4.10)")
    if game.drafting and game.offers.count(0) != SEATS - _picks(game):
        found.append("start_cards: one is gone for each seat that has picked (D-4.10)")
    return found


def _picks(game: DuelGame) -> int:
    return sum(isinstance(step, PickStart) for step in game.stack)


def _pending(game: DuelGame) -> list[str]:
    found = []
    moves = [number for number, step in enumerate(game.stack) if isinstance(step, MoveToken)]
    if moves and (len(moves) > 1 or moves != [len(game.stack) - 1] or len(game.stack) > 1):
        found.append("pending: a token is moved before anything else of its turn (D-5.3)")
    if not game.drafting and game.turn == 0 and game.stack:
        found.append("turn: a turn is pending that has not begun (D-5.1)")
    mine = (game.starter + game.turn - 1) % SEATS
    quiet = (PickStart, EndOfDraft, LastExchange, EndOfGame)
    for number, step in enumerate(game.stack):
        if not isinstance(step, quiet) and not game.drafting and step.seat != mine:
            found.append(f"pending[{number}]: it is the turn of seat {mine} (D-5.1)")
    ends = [number for number, step in enumerate(game.stack) if isinstance(step, EndOfGame)]
    if ends not in ([], [0]):
        found.append("pending: the game ends once, after all else (D-9.1)")
    return found + _payments(game) + step_faults(game)


def _payments(game: DuelGame) -> list[str]:
    """A payment is made before anything else, then what it buys and its scroll."""
    places = [PAYING.get(type(step), 0) for step in game.stack]
    paying = [place for place in places if place]
    if paying == sorted(set(paying)) and paying == places[len(places) - len(paying) :]:
        return []
    return ["pending: what is bought, its scroll and its price come before all else (D-6.1)"]
