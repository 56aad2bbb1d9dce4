"""The books of a castle game, kept from its events alone and from nothing else."""

from collections import Counter

from himeji.rules.castle.constants import DIE_PLACE_NAMES, GARDEN_NAMES, PLACE_NAMES
from himeji.rules.castle.matcha.constants import GEISHA_PLACE_NAMES, MATCHA_SPACE_NAMES
from himeji.rules.constants import COLOUR_NAMES, GOOD_NAMES

CAPS = {"food": 7, "iron": 7, "pearl": 7, "chasen": 7, "seal": 5}  # B-6.1, M-6.1
MEMBERS = 5  # of each kind (B-1.8)


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
        self.bridges = {}
        self.rolled = {}  # all dice of this round by colour
        self.spaces = {}  # dice by space; those of domains by (seat, colour)
        self.hand = None
        self.lanterns = [[] for _ in range(clans)]
        self.action_cards = [None] * clans
        self.tiles = [None] * clans  # ceremony tiles of the domains
        self.gone = []  # cards that left the game

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
        assert self.goods[event.seat][good] <= CAPS.get(good, 10**6), f"more {good} than fits"

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
