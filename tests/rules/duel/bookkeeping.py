"""The books of a game of Duel, kept from its events alone and from nothing else."""

from collections import Counter

from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES

CAPS = {"food": 7, "iron": 7, "pearl": 7, "swap": 2}  # D-7.1
STORAGE = 10
TURNS = 12  # of a round
SEALS = 8  # of a seat (D-4.10)
SPACES = {**dict.fromkeys(("G1", "G2", "G3", "G4", "G5", "G6"), 2), "basic": 5, "elite": 3}
LOCATIONS = ("L1", "L2", "L3", "L4", "L5", "L6")
SLOTS = ("A1", "A2", "A3", "A4", "A5", "A6")
SEAL_PLACES = ("G1", "G2", "G3", "G4", "G5", "G6", "basic", "elite")
COLOURS = COLOUR_NAMES[:3]
HELD = (*CAPS, "coin", "seal", "vp")


def stacks(position):
    """Every Location by name."""
    return position["locations"].items()


def zone_cards(clan):
    """The cards of a clan's Lantern zones."""
    return [card for zone in clan["zones"].values() for card in zone]


def turns_left(position):
    """The seats of the turns still to come (D-5.1)."""
    if position["over"]:
        return []
    first, moving = position["starter"], [step["step"] for step in position["pending"]]
    begun = position["turn"] - ("move-token" in moving)
    left = [(first + turn) % 2 for turn in range(begun, TURNS)]
    return left + [(1 - first + turn) % 2 for turn in range(TURNS)] * (position["round"] == 1)


class Books:
    """Goods, tokens, seals, cards and tiles of both seats; refuses what can never be booked."""

    def __init__(self, names, slots):
        self.names = names  # of components
        self.slots = dict(slots)  # activation tiles after the set-up
        self.goods = [Counter() for _ in range(2)]
        self.tokens = [Counter(dict.fromkeys(COLOURS, 2)) for _ in range(2)]
        self.stacks = {location: [] for location in LOCATIONS}
        self.moves = [0, 0]
        self.turns = []  # seats in the order of their turns
        self.due = []  # the same, from an opened position to the end of the game
        self.seals = [Counter() for _ in range(2)]
        self.courtiers = [0, 0]
        self.paths = [None, None]
        self.cards = [set(), set()]
        self.improved = [set(), set()]
        self.wares = [[], []]
        self.zones = [[], []]
        self.drawn = Counter()

    @classmethod
    def opened(cls, names, position):
        """Books that begin with what a position shows."""
        books, clans = cls(names, position["activation"]), position["clans"]
        books.goods = [Counter({good: clan[good] for good in HELD}) for clan in clans]
        books.tokens = [Counter(clan["tokens"]) for clan in clans]
        books.stacks = {name: list(place["tokens"]) for name, place in stacks(position)}
        books.seals = [Counter({**clan["garden_seals"], **clan["yard_seals"]}) for clan in clans]
        books.courtiers = [clan["courtier"] for clan in clans]
        books.paths = [clan["path"] for clan in clans]
        books.cards = [set(clan["cards"]) for clan in clans]
        books.improved = [set(clan["improved"]) for clan in clans]
        books.wares = [list(clan["merchandise"]) for clan in clans]
        books.zones = [zone_cards(clan) for clan in clans]
        books.due = turns_left(position)
        return books

    def check(self, position):
        """Everything that is kept here is what a position shows."""
        clans, decks = position["clans"], position["decks"].values()
        assert len(position["unseen_cards"]) == sum(deck["below"] for deck in decks)
        assert all(deck["top"] for deck in decks if deck["below"])
        assert position["activation"] == self.slots
        assert {name: place["tokens"] for name, place in stacks(position)} == self.stacks
        for seat, clan in enumerate(clans):
            assert {good: clan[good] for good in HELD} == {g: self.goods[seat][g] for g in HELD}
            assert clan["tokens"] == {c: self.tokens[seat][c] for c in COLOURS}
            seals = {**clan["garden_seals"], **clan["yard_seals"]}
            assert seals == {place: self.seals[seat][place] for place in seals}
            assert sorted(zone_cards(clan)) == sorted(self.zones[seat])
            assert self.held(seat) <= STORAGE
            assert sum(seals.values()) <= SEALS
            for colour, zone in clan["zones"].items():
                assert not [c for c in zone if c.startswith("start") and colour not in c]
        for place, most in SPACES.items():
            assert sum(booked[place] for booked in self.seals) <= most
        assert sorted(map(str, self.paths)) in (["None", "None"], ["left", "right"])
        assert [clan["courtier"] for clan in clans] == self.courtiers
        assert [clan["path"] for clan in clans] == self.paths
        assert [set(clan["cards"]) for clan in clans] == self.cards
        assert [set(clan["improved"]) for clan in clans] == self.improved
        assert [clan["merchandise"] for clan in clans] == self.wares

    def write(self, event):
        """Book one event; kinds without a book change nothing that is kept here."""
        book = getattr(self, f"write_{event.kind.replace('-', '_')}", None)
        if book:
            book(event)

    # --- goods --------------------------------------------------------------------------------

    def held(self, seat):
        return self.goods[seat]["coin"] + self.goods[seat]["seal"]

    def write_gain(self, event):
        good = GOOD_NAMES[event.a]
        assert event.b >= 0
        self.goods[event.seat][good] += event.b
        assert self.goods[event.seat][good] <= CAPS.get(good, 1 << 21), f"more {good} than fits"
        assert self.held(event.seat) <= STORAGE, "more pieces than the storage holds"

    def write_pay(self, event):
        good = GOOD_NAMES[event.a]
        assert event.b > 0
        assert good != "vp", "points never fall"
        self.goods[event.seat][good] -= event.b
        assert self.goods[event.seat][good] >= 0, f"more {good} paid than held"

    def write_discarded(self, event):
        assert self.held(event.seat) == STORAGE, "nothing is discarded while there is room"
        assert GOOD_NAMES[event.a] in ("coin", "seal")
        self.write_pay(event)

    def write_lost(self, event):
        good = GOOD_NAMES[event.a]
        assert event.b > 0
        if good in ("coin", "seal"):
            assert self.held(event.seat) == STORAGE, "only a full storage refuses a piece"
        else:
            assert self.goods[event.seat][good] == CAPS[good], "only a full track refuses a gain"

    # --- tokens -------------------------------------------------------------------------------

    def write_token_placed(self, event):
        colour, stack = COLOURS[event.a], self.stacks[LOCATIONS[event.b]]
        self.tokens[event.seat][colour] -= 1
        assert self.tokens[event.seat][colour] >= 0
        assert colour not in stack
        stack.append(colour)
        self.turns.append(event.seat)

    def write_token_taken(self, event):
        assert self.stacks[LOCATIONS[event.b]].pop() == COLOURS[event.a]
        self.tokens[event.seat][COLOURS[event.a]] += 1
        self.turns.append(event.seat)

    def write_tiles_swapped(self, event):
        one, other = SLOTS[event.a], SLOTS[event.b]
        self.slots[one], self.slots[other] = self.slots[other], self.slots[one]

    # --- seals, courtiers, cards --------------------------------------------------------------

    def write_seal_placed(self, event):
        self.seals[event.seat][SEAL_PLACES[event.a]] += 1
        assert self.seals[event.seat].total() <= 8

    def write_courtier_moved(self, event):
        assert 1 <= event.a - self.courtiers[event.seat] <= 2
        self.courtiers[event.seat] = event.a
        side = ("left", "right")[event.b]
        assert self.paths[event.seat] in (None, side), "the path is chosen for good"
        self.paths[event.seat] = side
        self.paths[1 - event.seat] = ("right", "left")[event.b]

    def write_component_gained(self, event):
        name = self.names[event.a]
        (self.cards[event.seat].add, self.zones[event.seat].append, self.wares[event.seat].append)[
            event.b
        ](name)

    def write_card_improved(self, event):
        name = self.names[event.a]
        self.cards[event.seat].remove(name)
        self.improved[event.seat].add(name)

    def write_draw(self, event):
        if event.a:
            self.drawn[self.names[event.b]] += 1
            assert self.drawn[self.names[event.b]] == 1, "no card is drawn twice"
