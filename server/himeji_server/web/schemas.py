"""The schemas of the page's JSON API; the HTML pages are rendered from the same data.

The document `/api/openapi.json` is generated from these classes (openapi.py), with their docstrings
as descriptions.
"""

from typing import TypedDict


class ScoreLine(TypedDict):
    """The points of one category of the scoring."""

    category: str
    rule: str
    points: int


class Seat(TypedDict):
    """A clan of a game: a seat, or the rival that nobody plays."""

    seat: int
    name: str
    bot: str
    bot_version: int
    house: bool
    connected: bool
    asked: bool
    strikes: int
    clock_ms: int | None
    score: int | None
    rank: int | None
    end_reason: str
    breakdown: list[ScoreLine]


class Game(TypedDict):
    """A game, without its position."""

    game_id: str
    ruleset: str
    title: str
    options: dict[str, str]
    ladder: str
    tournament: str
    rated: bool
    state: str
    version: int
    decision: int
    create_time: str
    end_time: str
    end_reason: str
    seats: list[Seat]


class GameEvent(TypedDict):
    """An event of a game, as a sentence."""

    number: int
    kind: str
    seat: int | None
    text: str
    rule: str


class SpectatorView(TypedDict):
    """A game as spectators see it."""

    game: Game
    question: str
    last_action: str
    event_count: int
    first_event: int
    events: list[GameEvent]


class Games(TypedDict):
    """A page of games, the newest first."""

    games: list[Game]
    next_page_token: str


class Moment(TypedDict):
    """The game after an action; moment 0 is the set-up."""

    number: int
    version: int
    seat: int | None
    action: int | None
    text: str
    turn: int
    scores: list[int]


class Turn(TypedDict):
    """Actions of one seat in a row."""

    number: int
    seat: int
    first_moment: int


class Check(TypedDict):
    """The result of one check of the replay."""

    passed: bool
    text: str


class Replay(TypedDict):
    """A game action by action, and whether its chance and its log pass the checks."""

    game: Game
    clans: list[str]
    moments: list[Moment]
    turns: list[Turn]
    verified: bool | None
    checks: list[Check]


class RatingSummary(TypedDict):
    """A rating with its uncertainty."""

    mean: float
    uncertainty: float
    conservative: float


class Standing(TypedDict):
    """A row of the standings of a ladder."""

    place: int
    bot: str
    bot_version: int
    house: bool
    rating: RatingSummary
    games: int
    rank_counts: list[int]
    mean_score: float
    end_reasons: dict[str, int]
    last_game_time: str


class LadderSummary(TypedDict):
    """A ladder: a ruleset with options and a clock, and standings of its own."""

    name: str
    ruleset: str
    title: str
    seats: int
    options: dict[str, str]
    bank_seconds: float
    increment_seconds: float
    season: int
    accepting: bool
    waiting: int
    playing: int
    rated_bots: int


class LadderList(TypedDict):
    """Every ladder."""

    ladders: list[LadderSummary]


class StandingsPage(TypedDict):
    """A ladder with its standings."""

    ladder: LadderSummary
    games: int
    standings: list[Standing]
    next_page_token: str


class BotVersionSummary(TypedDict):
    """A version of a bot."""

    number: int
    label: str
    create_time: str


class RatedGame(TypedDict):
    """A rated game of a bot."""

    game_id: str
    ladder: str
    bot_version: int
    seat: int
    rank: int
    score: int
    end_reason: str
    before: RatingSummary
    after: RatingSummary
    opponents: list[str]
    end_time: str


class HeadToHead(TypedDict):
    """The results of a bot against one opponent on one ladder."""

    opponent: str
    ladder: str
    games: int
    wins: int
    ties: int
    losses: int
    mean_margin: float


class LadderRating(TypedDict):
    """The standing of a version of a bot on a ladder."""

    ladder: str
    standing: Standing


class BotProfile(TypedDict):
    """A bot, its ratings and results; `games` are those in progress and the last rated ones."""

    name: str
    owner: str
    owner_name: str
    description: str
    retired: bool
    connected: bool
    create_time: str
    versions: list[BotVersionSummary]
    ratings: list[LadderRating]
    end_reasons: dict[str, int]
    rated_games: list[RatedGame]
    games: list[Game]
    records: list[HeadToHead]


class Option(TypedDict):
    """An option that a game can be created with."""

    name: str
    choices: list[str]
    standard: str
    text: str


class RulesetSummary(TypedDict):
    """A summary of a ruleset."""

    name: str
    title: str
    revision: str
    family: str
    seat_counts: list[int]
    has_rival: bool
    reconstructed: bool
    options: list[Option]


class Rule(TypedDict):
    """A paragraph of the rules."""

    id: str
    text: str


class Face(TypedDict):
    """A side, row or slot of a component, or a cell of a board."""

    name: str
    text: str
    dark: bool


class Component(TypedDict):
    """A card copy, a tile or a printed part of the boards."""

    id: str
    kind: str
    text: str
    faces: list[Face]
    facts: dict[str, int]
    reconstructed: bool
    source: str
    note: str


class Action(TypedDict):
    """A row of the action table."""

    id: int
    text: str


class Ruleset(TypedDict):
    """A ruleset: its rules, components, board and actions."""

    summary: RulesetSummary
    rules: list[Rule]
    components: list[Component]
    board: list[Component]
    actions: list[Action]


class Rulesets(TypedDict):
    """Every ruleset."""

    rulesets: list[RulesetSummary]


class ArenaOverview(TypedDict):
    """The arena as a whole, with its newest games."""

    version: str
    engine: str
    mode: str
    address: str
    rulesets: list[RulesetSummary]
    house: list[str]
    games: list[Game]
    ladders: list[LadderSummary]


class Error(TypedDict):
    """Why the request failed."""

    reason: str
    message: str
