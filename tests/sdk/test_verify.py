"""Replays are checked completely: whatever is changed in one, the check names it."""

import hashlib
import hmac
import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner
from himeji import rules
from himeji.rules import Keyed
from himeji.rules.chance import Recorded
from himeji.rules.errors import InvalidRequest, UnknownRuleset, VersionMismatch
from himeji.rules.game import stand_in
from himeji.v1 import game_service_pb2
from himeji.v1.game_pb2 import EndReason, GameState
from himeji.v1.game_service_pb2 import LogCause
from himeji.wire.chain import ChainEntry, chance_key, commitment, first_link, link
from himeji.wire.results import result
from himeji_bots.random import RandomBot
from himeji_sdk import Replay, _cli as cli, play

PAGE = (Path(__file__).parents[2] / "docs" / "protocol.md").read_text(encoding="utf-8")
SECRET, ENTROPY = bytes(range(32)), (b"", b"heads", b"tails")
START, ANSWER = LogCause.LOG_CAUSE_START, LogCause.LOG_CAUSE_ANSWER
STAND_IN, LOST = LogCause.LOG_CAUSE_STAND_IN, LogCause.LOG_CAUSE_SEAT_LOST
STOPPED = LogCause.LOG_CAUSE_STOPPED
CHECKS = ["rules", "commitment", "key", "versions", "chain", "actions", "chance", "result"]


class Writer:
    """Plays a game and writes its replay as an arena does."""

    def __init__(self, seats=2):
        entropy = ENTROPY[:seats]
        key = chance_key(SECRET, entropy)
        self.chance = Recorded(Keyed(key))
        self.game = rules.new_game("base", seats, chance=self.chance)
        self.lost = {}
        self.message = game_service_pb2.Replay(format=1, engine_version="0.2.0")
        game = self.message.game
        game.game_id, game.ruleset, game.revision = "g1", "base", self.game.ruleset.revision
        for number in range(seats):
            game.seats.add(bot=f"local/b{number}", bot_version=1)
        game.chance.commitment, game.chance.secret = commitment(SECRET), SECRET
        game.chance.key = key
        game.chance.seat_entropy.extend(entropy)
        self.log(START)

    def log(self, cause, seat=None, actions=(), end_reason=EndReason.END_REASON_UNSPECIFIED):
        version = len(self.message.log) + 1
        entry = self.message.log.add(
            version=version, cause=cause, seat=seat, actions=actions, end_reason=end_reason
        )
        entry.commit_time.FromMilliseconds(1_000 * version)

    def play(self, most=10_000):
        """Play on by the last legal action, the stand-in for lost seats."""
        while not self.game.over and most:
            most -= 1
            seat = self.game.to_move
            if seat in self.lost:
                self.log(STAND_IN, seat, [stand_in(self.game)])
            else:
                self.log(ANSWER, seat, [self.game.legal()[-1]])
            self.game.apply(self.message.log[-1].actions[0])
        return self

    def lose(self, seat, reason=EndReason.END_REASON_RESIGNED):
        self.log(LOST, seat, end_reason=reason)
        self.lost[seat] = (reason, len(self.message.log))
        self.message.game.seats[seat].end_reason = reason
        return self

    def end(self, reason=EndReason.END_REASON_FINISHED):
        message = self.message
        message.game.result.CopyFrom(result(self.game, reason, self.lost))
        message.game.state = GameState.GAME_STATE_OVER
        message.game.version = len(message.log)
        for slot, drawn in self.chance.results:
            message.chance.add(slot=slot, result=drawn)
        forge_chain(message)
        return message


def forge_chain(message):
    """Write the links anew, as somebody would who changed the log on purpose."""
    before = first_link(message.game.game_id, message.game.chance.commitment)
    for entry in message.log:
        seat = entry.seat if entry.HasField("seat") else -1
        words = ChainEntry(entry.version, entry.cause, seat, tuple(entry.actions), entry.end_reason)
        before = entry.chain = link(before, words.text())


def told(message):
    """The checks that passed, and the one that did not."""
    passed = []
    try:
        passed.extend(sentence.partition(":")[0] for sentence in Replay(message).verify())
    except InvalidRequest as error:
        return passed, error.details["check"], error.message
    return passed, None, ""


def stopped():
    writer = Writer().play(5)
    writer.log(STOPPED, end_reason=EndReason.END_REASON_ADJUDICATED)
    return writer.end(EndReason.END_REASON_ADJUDICATED)


def with_a_house_seat(*, rule):
    """A game in which seat 1, which added entropy, is one of the house."""
    message = Writer().play().end()
    message.game.seats[1].bot = "house/greedy"
    message.game.chance.house_adds_no_entropy = rule
    return message


GAMES = {
    "older than the rule about the house": lambda: with_a_house_seat(rule=False),
    "played to the end": lambda: Writer().play().end(),
    "three seats": lambda: Writer(3).play().end(),
    "a lost seat and its stand-in": lambda: Writer(3).play(9).lose(1).play().end(),
    "outlasted": lambda: Writer().play(4).lose(0).end(EndReason.END_REASON_OUTLASTED),
    "stopped": stopped,
}


@pytest.mark.parametrize("kind", GAMES)
def test_a_true_replay_passes_every_check(kind):
    assert told(GAMES[kind]()) == (CHECKS, None, "")


def test_a_server_that_chose_the_key_by_entropy_of_the_house_is_caught():
    passed, failed, message = told(with_a_house_seat(rule=True))
    assert (passed, failed) == (["rules", "commitment"], "key")
    assert "seat 1 is one of the house and added entropy" in message
    hidden = with_a_house_seat(rule=True)
    hidden.game.seats[1].bot, hidden.game.seats[1].house = "ada/greedy", True
    assert told(hidden)[1] == "key"


def test_it_is_said_whether_seats_of_the_house_added_entropy():
    older = next(s for s in Replay(with_a_house_seat(rule=False)).verify() if s.startswith("key"))
    assert "of the house among them" in older
    message = Writer().play().end()
    message.game.seats[0].bot, message.game.chance.house_adds_no_entropy = "house/greedy", True
    newer = next(sentence for sentence in Replay(message).verify() if sentence.startswith("key"))
    assert newer.endswith("the entropy of 1 of 2 seats, none of the house")


def test_a_lost_seat_ranks_behind_all_others():
    message = GAMES["a lost seat and its stand-in"]()
    assert message.game.result.seats[1].rank == 3
    assert any(entry.cause == STAND_IN for entry in message.log)


def answers(message, cause=ANSWER):
    return [entry for entry in message.log if entry.cause == cause]


def legal_instead(message):
    """Another action of the log that was legal just as well, and all links to fit."""
    game = rules.new_game("base", 2, chance=Keyed(message.game.chance.key))
    for entry in answers(message):
        if len(game.legal()) > 1 and entry.version > 20:
            entry.actions[0] = game.legal()[0]
            break
        game.apply(entry.actions[0])
    forge_chain(message)


def drop(sequence, number):
    del sequence[number]


def swapped(log):
    one, two = log[5].actions[0], log[6].actions[0]
    log[5].actions[0], log[6].actions[0] = two, one


FORGERIES = {
    "another secret": ("commitment", lambda m: setattr(m.game.chance, "secret", b"x" * 32)),
    "another commitment": ("commitment", lambda m: setattr(m.game.chance, "commitment", b"x" * 32)),
    "another key": ("key", lambda m: setattr(m.game.chance, "key", b"x" * 32)),
    "other entropy": ("key", lambda m: m.game.chance.seat_entropy.__setitem__(1, b"mine")),
    "entropy swapped": ("key", lambda m: m.game.chance.seat_entropy.reverse()),
    "entropy left out": ("key", lambda m: drop(m.game.chance.seat_entropy, 0)),
    "entropy too long": ("key", lambda m: m.game.chance.seat_entropy.__setitem__(0, b"x" * 999)),
    "an entry left out": ("versions", lambda m: drop(m.log, 7)),
    "the last entry left out": ("versions", lambda m: drop(m.log, -1)),
    "an entry twice": ("versions", lambda m: m.log.insert(3, m.log[3])),
    "another version": ("versions", lambda m: setattr(m.game, "version", 3)),
    "another action": ("chain", lambda m: m.log[9].actions.__setitem__(0, 1)),
    "an action more": ("chain", lambda m: m.log[9].actions.append(1)),
    "actions swapped": ("chain", lambda m: swapped(m.log)),
    "another seat": ("chain", lambda m: setattr(m.log[9], "seat", 1 - m.log[9].seat)),
    "another cause": ("chain", lambda m: setattr(m.log[9], "cause", STAND_IN)),
    "another link": ("chain", lambda m: setattr(m.log[9], "chain", b"x" * 32)),
    "no link": ("chain", lambda m: m.log[9].ClearField("chain")),
    "another game's id": ("chain", lambda m: setattr(m.game, "game_id", "g2")),
    "another die": (
        "chance",
        lambda m: setattr(m.chance[30], "result", m.chance[30].result % 6 + 1),
    ),
    "another slot": ("chance", lambda m: setattr(m.chance[3], "slot", "castle/mine")),
    "a result left out": ("chance", lambda m: drop(m.chance, -1)),
    "a result more": ("chance", lambda m: m.chance.add(slot="castle/mine", result=1)),
    "another score": ("result", lambda m: setattr(m.game.result.seats[0], "score", 99)),
    "another rank": ("result", lambda m: setattr(m.game.result.seats[1], "rank", 7)),
    "another breakdown": (
        "result",
        lambda m: setattr(m.game.result.seats[0].breakdown[0], "points", 50),
    ),
    "a seat left out": ("result", lambda m: drop(m.game.result.seats, 1)),
    "another end": ("result", lambda m: setattr(m.game.result, "end_reason", 6)),
    "a seat's other end": ("result", lambda m: setattr(m.game.seats[0], "end_reason", 2)),
    "not over": ("rules", lambda m: setattr(m.game, "state", GameState.GAME_STATE_PLAYING)),
    "a seat too many": ("rules", lambda m: m.game.seats.extend(m.game.seats[:1] * 9)),
    "an unknown option": ("rules", lambda m: m.game.options.add(name="x", value="y")),
}


@pytest.mark.parametrize("what", FORGERIES)
def test_every_change_is_found_and_named(what):
    check, forge = FORGERIES[what]
    message = GAMES["played to the end"]()
    forge(message)
    passed, failed, _ = told(message)
    assert failed == check
    assert passed == CHECKS[: CHECKS.index(check)]


def set_first(entries, **fields):
    for name, value in fields.items():
        setattr(entries[0], name, value)


def other_idea(message):
    """The stand-in answers with another legal action than its own."""
    game = rules.new_game("base", 3, chance=Keyed(message.game.chance.key))
    for entry in message.log:
        others = [action for action in game.legal() if [action] != list(entry.actions)]
        if entry.cause == STAND_IN and others:
            entry.actions[0] = others[0]
            return
        for action in entry.actions:
            game.apply(action)
    raise AssertionError("the stand-in never had a choice")


CAREFUL_FORGERIES = {
    "an illegal action": ("played to the end", lambda m: m.log[9].actions.__setitem__(0, 10**6)),
    "an answer of the other seat": (
        "played to the end",
        lambda m: setattr(m.log[9], "seat", 1 - m.log[9].seat),
    ),
    "an answer of nobody": ("played to the end", lambda m: m.log[9].ClearField("seat")),
    "an answer without an action": ("played to the end", lambda m: drop(m.log[9].actions, 0)),
    "begun twice": ("played to the end", lambda m: setattr(m.log[9], "cause", START)),
    "begun never": ("played to the end", lambda m: set_first(m.log, cause=ANSWER, seat=0)),
    "a stand-in for a seat that plays": (
        "played to the end",
        lambda m: setattr(m.log[9], "cause", STAND_IN),
    ),
    "a stand-in with ideas of its own": ("a lost seat and its stand-in", other_idea),
    "a lost seat that answers": (
        "a lost seat and its stand-in",
        lambda m: set_first(answers(m, STAND_IN), cause=ANSWER),
    ),
    "a seat lost that is none": (
        "a lost seat and its stand-in",
        lambda m: set_first(answers(m, LOST), seat=9),
    ),
    "stopped for no reason": ("stopped", lambda m: setattr(m.log[-1], "end_reason", 2)),
}


@pytest.mark.parametrize("what", CAREFUL_FORGERIES)
def test_a_log_with_links_to_fit_still_has_to_be_played_by_the_rules(what):
    kind, forge = CAREFUL_FORGERIES[what]
    message = GAMES[kind]()
    forge(message)
    forge_chain(message)
    _, failed, sentence = told(message)
    assert failed == "actions"
    assert re.search(r"version \d+: ", sentence)


def test_a_log_that_goes_on_after_the_end_is_found():
    message = GAMES["outlasted"]()
    message.log.add(version=len(message.log) + 1, cause=ANSWER, seat=1, actions=[1])
    message.game.version += 1
    forge_chain(message)
    assert told(message)[1:] == (
        "actions",
        f"actions: version {message.game.version}: the game was over before it",
    )


def test_a_log_that_ends_before_the_game_is_found():
    message = GAMES["played to the end"]()
    del message.log[-1]
    message.game.version -= 1
    assert told(message)[1:] == ("actions", "actions: the log ends before the game does")


def test_another_game_of_the_same_key_does_not_have_this_result():
    message = GAMES["played to the end"]()
    legal_instead(message)
    assert told(message)[1] in ("actions", "chance", "result")


def test_a_game_that_never_began_can_be_checked_too():
    writer = Writer()
    del writer.message.log[:]
    writer.chance.results.clear()
    writer.game = None
    writer.log(STOPPED, end_reason=EndReason.END_REASON_CANCELLED)
    message = writer.end(EndReason.END_REASON_CANCELLED)
    del message.game.chance.seat_entropy[:]
    assert told(message) == (CHECKS, None, "")


def test_other_rules_than_ours_are_a_mismatch_and_not_a_forgery():
    message = GAMES["played to the end"]()
    ours, message.game.revision = message.game.revision, "9-abcdef"
    both = f"the replay is of revision 9-abcdef of base, this engine plays revision {ours}"
    with pytest.raises(VersionMismatch, match=both):
        list(Replay(message).verify())
    with pytest.raises(VersionMismatch, match=both):
        list(Replay(message).moments())
    message.game.ruleset = "chess"
    with pytest.raises(UnknownRuleset):
        list(Replay(message).verify())


def test_a_file_is_the_message_in_json(tmp_path):
    replay = Replay(GAMES["three seats"]())
    replay.save(tmp_path / "r.json")
    again = Replay.load(tmp_path / "r.json")
    assert again.message == replay.message
    assert json.loads(again.text())["game"]["gameId"] == "g1"


NEWER = {
    "a cause by its number": lambda r: r["log"][3].update(cause=77),
    "a cause by its name": lambda r: r["log"][3].update(cause="LOG_CAUSE_NEWER"),
    "an end of a seat by its number": lambda r: r["log"][-1].update(endReason=77),
    "an end of a seat by its name": lambda r: r["log"][-1].update(endReason="END_REASON_NEWER"),
    "an end of the game by its name": lambda r: r["game"]["result"].update(
        endReason="END_REASON_X"
    ),
    "a format": lambda r: r.update(format=2),
}


@pytest.mark.parametrize("change", NEWER.values(), ids=NEWER.keys())
def test_a_replay_that_needs_a_newer_version_says_so_and_is_not_called_wrong(tmp_path, change):
    content = json.loads(Replay(GAMES["outlasted"]()).text())
    change(content)
    file = tmp_path / "r.json"
    file.write_text(json.dumps(content))
    with pytest.raises(VersionMismatch, match=r"made by a newer arena, .*: update himeji"):
        list(Replay.load(file).verify())
    shown = CliRunner().invoke(cli.main, ["verify", str(file)])
    assert shown.exit_code == 1
    assert "made by a newer arena" in shown.output
    assert "WRONG" not in shown.output


@pytest.mark.parametrize("name", ["a cause by its number", "a cause by its name"])
def test_an_entry_of_a_newer_arena_is_not_stepped_over(name):
    content = json.loads(Replay(GAMES["outlasted"]()).text())
    NEWER[name](content)
    with pytest.raises(VersionMismatch, match="made by a newer arena"):
        list(Replay.parse(json.dumps(content)).moments())


def test_what_a_newer_arena_adds_to_a_replay_is_ignored():
    content = json.loads(Replay(GAMES["three seats"]()).text())
    for place in (content, content["game"], content["game"]["seats"][0], content["log"][3]):
        place["newField"] = {"deep": [1]}
    replay = Replay.parse(json.dumps(content))
    assert list(replay.verify())
    assert list(replay.moments())


@pytest.mark.parametrize("text", ["", "{}", "[]", "{", '{"format": -1}', '{"x": 1}', "\xff"])
def test_what_is_no_replay_is_refused_in_one_sentence(tmp_path, text):
    (tmp_path / "x").write_text(text, encoding="latin-1")
    with pytest.raises(InvalidRequest, match="no replay"):
        Replay.load(tmp_path / "x")


def test_the_command_says_what_it_checked_a_line_each(tmp_path):
    Replay(GAMES["played to the end"]()).save(tmp_path / "r.json")
    shown = CliRunner().invoke(cli.main, ["verify", str(tmp_path / "r.json")])
    assert shown.exit_code == 0
    *lines, last = shown.output.splitlines()
    assert [line.split()[1].rstrip(":") for line in lines] == CHECKS
    assert all(line.startswith("ok     ") for line in lines)
    assert last == "the replay is true"


def test_the_command_fails_naming_the_first_thing_wrong(tmp_path):
    message = GAMES["played to the end"]()
    message.chance[30].result = message.chance[30].result % 6 + 1
    Replay(message).save(tmp_path / "r.json")
    shown = CliRunner().invoke(cli.main, ["verify", str(tmp_path / "r.json")])
    assert shown.exit_code == 1
    assert shown.output.splitlines()[-1].startswith("WRONG  chance: result 31 is ")
    assert message.chance[30].slot in shown.output
    as_json = CliRunner().invoke(cli.main, ["verify", str(tmp_path / "r.json"), "--json"])
    answer = json.loads(as_json.output)
    assert as_json.exit_code == 1
    assert not answer["verified"]
    assert len(answer["checked"]) == 6


def test_the_formulas_of_the_protocol_page_are_the_ones_that_are_used():
    """Written out here once more, from the page alone."""
    message = GAMES["a lost seat and its stand-in"]()
    chance = message.game.chance
    before = hashlib.sha256(
        b"himeji/v1/log " + message.game.game_id.encode() + b" " + chance.commitment
    ).digest()
    for entry in message.log:
        seat = entry.seat if entry.HasField("seat") else -1
        actions = ",".join(str(action) for action in entry.actions) or "-"
        text = f"{entry.version} {entry.cause} {seat} {actions} {entry.end_reason}"
        before = hashlib.sha256(before + text.encode()).digest()
        assert entry.chain == before
    added = b"".join(bytes([len(each)]) + each for each in chance.seat_entropy)
    assert chance.key == hmac.digest(SECRET, b"himeji/v1/seat-entropy" + added, "sha256")


def test_the_chain_of_the_protocol_page_is_true():
    rows = re.findall(r"^\| `([^`]+)` \| `([0-9a-f]{64})` \|$", PAGE, re.MULTILINE)
    assert len(rows) >= 4
    secret = bytes(range(32))
    before = first_link("g-7f3k2m", commitment(secret))
    assert rows[0] == ("himeji/v1/log g-7f3k2m …", before.hex())
    for text, digest in rows[1:]:
        assert ChainEntry.parse(text).text() == text
        before = link(before, text)
        assert before.hex() == digest


# --- games that were played in-process ----------------------------------------------------------


@pytest.fixture(scope="module")
def own():
    """A game of one's own machine."""
    return play([RandomBot(1), RandomBot(2), RandomBot(3)], seed=6)


def test_a_game_of_ones_own_is_written_and_checked_like_one_of_an_arena(own, tmp_path):
    own.replay().save(tmp_path / "own.json")
    read = Replay.load(tmp_path / "own.json")
    sentences = list(read.verify())
    assert [each.partition(":")[0] for each in sentences] == CHECKS
    assert "chose the key" in sentences[1], "nobody is told that it was fair"
    assert f"all {len(own.actions)} were legal" in sentences[5]
    assert [seat.bot for seat in read.message.game.seats] == ["random"] * 3
    assert [seat.score for seat in read.message.game.result.seats] == own.scores


def test_the_same_game_is_the_same_file(own):
    again = play([RandomBot(1), RandomBot(2), RandomBot(3)], seed=6)
    assert again.replay().text() == own.replay().text()


def alter_key(message):
    message.game.chance.key = bytes(32)


def cut_key(message):
    message.game.chance.key = message.game.chance.key[:-1]


def alter_points(message):
    message.game.result.seats[0].score += 1


def alter_action(message):
    message.log[5].actions[0] += 1


@pytest.mark.parametrize(
    ("alter", "check"),
    [(alter_key, "chance"), (cut_key, "key"), (alter_points, "result"), (alter_action, "chain")],
)
def test_what_was_altered_in_a_game_of_ones_own_is_found(own, alter, check):
    replay = own.replay()
    alter(replay.message)
    with pytest.raises(InvalidRequest) as wrong:
        list(replay.verify())
    # Another key may also give another game, in which an action is not legal.
    assert wrong.value.details["check"] in ({check, "actions"} if check == "chance" else {check})


def test_a_replay_of_an_arena_that_hides_its_chance_is_no_game_of_ones_own():
    message = Writer().play().end()
    message.game.chance.ClearField("commitment")
    message.game.chance.ClearField("secret")
    with pytest.raises(InvalidRequest, match="commitment: it is not the SHA-256"):
        list(Replay(message).verify())
