"""The books of a castle game, kept from its events alone and from nothing else."""

import copy
from collections import Counter

from himeji.rules.castle.constants import DIE_PLACE_NAMES, GARDEN_NAMES, PLACE_NAMES
from himeji.rules.castle.matcha.constants import GEISHA_PLACE_NAMES, MATCHA_SPACE_NAMES
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES

CAPS = {"food": 7, "iron": 7, "pearl": 7, "chasen": 7, "seal": 5}  # B-6.1, M-6.1
MEMBERS = 5  # of each kind (B-1.8)
ROUNDS = 3


def turns_left(position):
    """How many turns each clan will still take, by the turn order of this round (B-2.1)."""
    clans, turns = len(position["clans"]), len(position["bridges"])
    if position["over"]:
        return [0] * clans
    now = Counter(step["seat"] for step in position["pending"] if step["step"] == "take-die")
    left = range(position["turn"], clans * turns)
    now.update(position["turn_order"][turn % clans] for turn in left)
    return [now[clan] + (ROUNDS - position["round"]) * turns for clan in range(clans)]


class Books:
    """Goods, dice, members and cards of every clan; refuses what can never be booked."""

    def __init__(self, clans, names):
        self.names = names  # of components
        self.goods = [Counter() for _ in range(clans)]
        self.courtiers = [Counter(domain=MEMBERS) for _ in range(clans)]
        self.geishas = [Counter(domain=MEMBERS) for _ in range(clans)]
        self.gardeners = [[] for _ in range(clans)]
        self.warriors = [Counter() for _ in range(clans)]
        self.turns = [0] * clans
        self.due = [0] * clans  # turns from an opened position to the end of the game
        self.bridges = {}
        self.rolled = {}  # all dice of this round by colour
        self.spaces = {}  # dice by space; those of domains by (seat, colour)
        self.hand = None
        self.lanterns = [[] for _ in range(clans)]
        self.action_cards = [None] * clans
        self.tiles = [None] * clans  # ceremony tiles of the domains
        self.gone = []  # cards that left the game

    @classmethod
    def opened(cls, names, position):
        """Books that begin with what a position shows."""
        clans = position["clans"]
        books = cls(len(clans), names)
        goods = [good for good in GOOD_NAMES if good in clans[0]]
        books.goods = [Counter({good: clan[good] for good in goods}) for clan in clans]
        books.courtiers = [Counter(clan["courtiers"]) for clan in clans]
        books.geishas = [Counter(clan.get("geishas", {})) for clan in clans]
        books.gardeners = [list(clan["gardeners"]) for clan in clans]
        books.warriors = [Counter(clan["warriors"]) for clan in clans]
        books.bridges = copy.deepcopy(position["bridges"])
        books.hand = position["hand"]
        books.spaces = {space: list(dice) for space, dice in position["spaces"].items()}
        for seat, clan in enumerate(clans):
            for colour, value in clan["dice"].items():
                books.spaces[seat, colour] = [f"{colour} {value}"] if value else []
        books.lanterns = [list(clan["lantern"]) for clan in clans]
        books.action_cards = [clan["action_card"] for clan in clans]
        books.tiles = [clan.get("ceremony") for clan in clans]
        books.due = turns_left(position)
        return books

    def check(self, position):
        """Everything that is kept here is what a position shows."""
        spaces = dict(position["spaces"])
        for seat, clan in enumerate(position["clans"]):
            held = {good: clan[good] for good in GOOD_NAMES if good in clan}
            assert held == {good: self.goods[seat][good] for good in held}
            assert clan["courtiers"] == {p: self.courtiers[seat][p] for p in clan["courtiers"]}
            assert sorted(clan["gardeners"]) == sorted(self.gardeners[seat])
            assert clan["warriors"] == {y: self.warriors[seat][y] for y in clan["warriors"]}
            geishas = clan.get("geishas", {})
            assert geishas == {place: self.geishas[seat][place] for place in geishas}
            assert all(0 <= held[good] <= CAPS.get(good, held[good]) for good in held)
            assert sum(clan["courtiers"].values()) == MEMBERS
            assert sum(geishas.values()) in (0, MEMBERS)
            assert max(len(clan["gardeners"]), sum(clan["warriors"].values())) <= MEMBERS
            for colour, value in clan["dice"].items():
                spaces[seat, colour] = [f"{colour} {value}"] if value else []
        assert {space: dice for space, dice in spaces.items() if dice} == {
            space: dice for space, dice in self.spaces.items() if dice
        }
        assert position["bridges"] == self.bridges
        assert position["hand"] == self.hand
        dice = Counter(die.split()[0] for stack in spaces.values() for die in stack)
        dice.update([position["hand"]["die"].split()[0]] if position["hand"] else [])
        for colour, bridge in position["bridges"].items():
            dice[colour] += len(bridge["centre"]) + bool(bridge["left"]) + bool(bridge["right"])
        assert dice == dict.fromkeys(position["bridges"], len(position["clans"]) + 1)  # B-1.1
        assert [clan["lantern"] for clan in position["clans"]] == self.lanterns
        assert [clan["action_card"] for clan in position["clans"]] == self.action_cards
        assert [clan.get("ceremony") for clan in position["clans"]] == self.tiles

    def write(self, event):
        """Book one event; kinds without a book change nothing that is kept here."""
        book = getattr(self, f"write_{event.kind.replace('-', '_')}", None)
        if book:
            book(event)

    # --- goods --------------------------------------------------------------------------------

    def write_gain(self, event):
        good = GOOD_NAMES[event.a]
        assert event.b >= 0
        self.goods[event.seat][good] += event.b
        assert self.goods[event.seat][good] <= CAPS.get(good, 1 << 21), f"more {good} than fits"

    def write_pay(self, event):
        good = GOOD_NAMES[event.a]
        assert event.b > 0
        falls = event.rule.startswith("M-12")  # the rival's in matcha-solo alone (B-8)
        assert falls or good not in ("vp", "influence"), "these never fall (B-8)"
        self.goods[event.seat][good] -= event.b
        assert self.goods[event.seat][good] >= 0, f"more {good} paid than held"

    def write_lost(self, event):
        good = GOOD_NAMES[event.a]
        assert event.b > 0
        assert self.goods[event.seat][good] == CAPS[good], "only a full store refuses a gain"

    def write_influence_moved(self, event):
        self.goods[event.seat]["influence"] += -1 if event.rule.startswith("M-12") else 1
        assert self.goods[event.seat]["influence"] == event.a, "the marker goes step by step"

    # --- dice ---------------------------------------------------------------------------------

    def write_round_began(self, event):
        assert self.hand is None
        self.rolled, self.bridges, self.spaces = {}, {}, {}

    def write_roll(self, event):
        colour = COLOUR_NAMES[event.a]
        dice = self.rolled.setdefault(colour, [])
        dice.append(event.b)
        dice.sort()
        self.bridges[colour] = {"left": dice[0], "centre": dice[1:-1], "right": dice[-1]}

    def write_die_taken(self, event):
        colour, value, side = COLOUR_NAMES[event.a >> 3], event.a & 7, DIE_PLACE_NAMES[event.b]
        bridge = self.bridges[colour]
        if side == "centre":  # a rival takes the one nearest the left end (S-3)
            assert bridge["centre"].pop(0) == value
        else:
            assert bridge[side] == value, f"no such die lies {side} on {colour}"
            bridge[side] = None
        if bridge["centre"] and side != "centre":  # the nearest slides, a lone die stays (B-2.4)
            bridge[side] = bridge["centre"].pop(0 if side == "left" else -1)
        assert self.hand is None
        self.hand = {"die": f"{colour} {value}", "side": side}
        self.turns[event.seat] += 1

    def write_die_placed(self, event):
        colour, value = COLOUR_NAMES[event.a >> 3], event.a & 7
        assert self.hand["die"] == f"{colour} {value}", "another die than the one in hand"
        self.hand = None
        space = MATCHA_SPACE_NAMES[event.b]
        place = (event.seat, colour) if space.startswith("domain") else space
        self.spaces.setdefault(place, []).append(f"{colour} {value}")

    # --- members and cards --------------------------------------------------------------------

    def write_member_moved(self, event):
        if event.a == 0:
            start, end = divmod(event.b, len(PLACE_NAMES))
            self.courtiers[event.seat][PLACE_NAMES[start]] -= 1
            self.courtiers[event.seat][PLACE_NAMES[end]] += 1
        elif event.a == 1:
            self.gardeners[event.seat].append(GARDEN_NAMES[event.b])
        elif event.a == 3:
            start, end = divmod(event.b, len(GEISHA_PLACE_NAMES))
            self.geishas[event.seat][GEISHA_PLACE_NAMES[start]] -= 1
            self.geishas[event.seat][GEISHA_PLACE_NAMES[end]] += 1
        else:
            self.warriors[event.seat][f"yard-{event.b + 1}"] += 1

    def write_card_moved(self, event):
        card = self.names[event.a]
        if event.b == 0:
            place = self.tiles if card.startswith("ceremony") else self.action_cards
            place[event.seat] = card
        else:
            (self.lanterns[event.seat] if event.b == 1 else self.gone).append(card)
