"""The client by single calls: handles for games, and the errors of local play."""

import random
import socket
from types import SimpleNamespace

import grpc
import pytest
from himeji import rules
from himeji.rules.errors import (
    Draining,
    IllegalAction,
    InvalidToken,
    MissingToken,
    RateLimited,
    Refused,
    Unavailable,
    UnknownGame,
)
from himeji.v1.game_pb2 import Game
from himeji.v1.game_service_pb2 import ListGamesRequest, ListGamesResponse
from himeji.wire.errors import RETRY_AFTER, STATUS_CODES, STATUS_DETAILS, to_status
from himeji_sdk import Client
from himeji_sdk._client.rpc import RpcClient
from himeji_sdk._client.service_client import LadderClient
from himeji_sdk.connection import Backoff, find_token, proxy_options


def free_target():
    """An address at which nobody listens."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{taken.getsockname()[1]}"


def begin(client, new_name, **settings):
    """A game that has begun: the handle of the seat that is asked first, and the other one."""
    game = client.create_game(**settings)
    one, two = (client.join(game, bot=new_name()) for _ in range(2))
    while one.decision() is None:
        one, two = two, one
    return one, two


def play_on(*games, seed=1):
    """Answer for all handles until the game is over."""
    rng = random.Random(seed)
    while all(game.end is None for game in games):
        for game in games:
            asked = game.decision()
            if asked is not None:
                assert asked.game.legal() == asked.legal
                assert asked.game.to_move == asked.seat == game.seat
                game.submit(rng.choice(asked.legal))


@pytest.fixture
def listed(monkeypatch):
    """Answers ListGames with short and empty pages; the requests that came."""
    revision = rules.ruleset("base").revision
    one, two = (Game(game_id=name, ruleset="base", revision=revision) for name in "ab")
    one.seats.add()
    two.seats.add()
    pages = {
        "": ListGamesResponse(next_page_token="1"),
        "1": ListGamesResponse(games=[one], next_page_token="2"),
        "2": ListGamesResponse(next_page_token="3"),
        "3": ListGamesResponse(games=[two]),
    }
    asked = []

    def call(_rpc, _method, request):
        asked.append(ListGamesRequest.FromString(request.SerializeToString()))
        return pages[request.page_token]

    monkeypatch.setattr(RpcClient, "call", call)
    return asked


def test_a_list_goes_on_after_a_short_or_empty_page(listed):
    with Client(free_target(), "t") as client:
        assert [game.game_id for game in client.games()] == ["a", "b"]
        assert {each.page_size for each in listed} == {20}, "all but the token stays"
        assert [game.game_id for game in client.games(most=1)] == ["a"]
    assert [each.page_token for each in listed] == ["", "1", "2", "3", "", "1"]


def test_a_list_is_of_the_bot_or_owner_that_is_named(listed):
    with Client(free_target(), "t") as client:
        client.games(bot="ada/first", owner="ada", most=1)
    assert {(each.bot, each.owner) for each in listed} == {("ada/first", "ada")}


def test_a_list_of_a_ladder_goes_on_after_a_short_or_empty_page(monkeypatch):
    entries = {"": ([], "1"), "1": ([1, 2], "2"), "2": ([], "3"), "3": ([3], "")}
    sizes = []

    def call(_client, _method, page_token, page_size):
        sizes.append(page_size)
        found, following = entries[page_token]
        return SimpleNamespace(entries=found, next_page_token=following)

    monkeypatch.setattr(LadderClient, "call", call)
    with LadderClient(free_target(), "t") as client:
        assert client.pages("GetHistory", "entries") == [1, 2, 3]
        assert client.pages("GetHistory", "entries", 3) == [1, 2, 3]
        assert client.pages("GetHistory", "entries", 1) == [1]
    assert sizes == [0] * 4 + [3] * 4 + [1] * 2


def test_two_seats_of_one_owner_play_a_whole_game_by_handles(endpoint, new_name):
    with endpoint.client() as client:
        created = client.create_game("base", seats=2)
        one, two = (client.join(created, bot=new_name()) for _ in range(2))
        assert (one.seat, two.seat) == (0, 1)
        play_on(one, two)
        ended = one if one.end else two
        assert ended.end.reason == "finished"
        assert min(ended.end.ranks) == 1
        last = two if ended is one else one
        assert last.decision() is None
        assert last.end.scores == ended.end.scores
        checked = list(one.replay().verify())
        assert len(checked) == 8


def test_one_client_plays_alone_against_the_house(endpoint, name):
    with endpoint.client() as client:
        game = client.create_game(seats=["", "house/random"])
        mine = client.join(game, seat=0, bot=name)
        rng = random.Random(2)
        while (asked := mine.decision(wait=60)) is not None:
            mine.submit(rng.choice(asked.legal))
        assert mine.end is not None
        assert mine.end.reason == "finished"
        list(mine.replay().verify())


def test_a_receipt_tells_what_was_played_and_what_it_cost(endpoint, new_name):
    with endpoint.client() as client:
        one, _ = begin(client, new_name, clock=(300, 2))
        asked = one.decision()
        assert 0 < asked.time_left <= 300
        receipt = one.submit(asked.legal[0])
        assert receipt.played == (asked.legal[0],)
        assert receipt.charged >= 0
        assert receipt.time_left <= 302


def test_a_game_without_clocks_has_none(endpoint, new_name):
    with endpoint.client() as client:
        one, _ = begin(client, new_name, untimed=True)
        asked = one.decision()
        assert asked.time_left is None
        assert one.submit(asked.legal[0]).charged is None


def test_an_illegal_action_raises_what_local_play_raises_and_leaves_the_question_open(
    endpoint, new_name
):
    with endpoint.client() as client:
        one, _ = begin(client, new_name)
        asked = one.decision()
        with pytest.raises(IllegalAction) as local:
            asked.game.apply(16)
        with pytest.raises(IllegalAction) as online:
            one.submit(16)
        assert str(online.value) == str(local.value)
        assert (online.value.rule, online.value.legal) == (local.value.rule, local.value.legal)
        assert one.decision().number == asked.number
        one.submit(asked.legal[0])


def test_an_answer_to_a_question_that_is_gone_is_stale(endpoint, new_name):
    with endpoint.client() as client:
        one, _ = begin(client, new_name)
        twin = client.game(one.game_id, seat=one.seat)
        asked = one.decision()
        assert twin.decision().number == asked.number
        one.submit(asked.legal[0])
        with pytest.raises(Refused):
            twin.submit(asked.legal[1])
        with pytest.raises(Refused, match="no decision is open"):
            twin.submit(asked.legal[1])


def test_resigning_ends_a_game_of_two(endpoint, new_name):
    with endpoint.client() as client:
        one, two = begin(client, new_name)
        one.resign()
        assert one.end.reason == "outlasted"
        assert one.end.rank == 2
        assert two.decision() is None
        assert two.end.rank == 1
        list(one.replay().verify())


def test_who_gives_up_a_seat_before_the_game_begins_can_take_it_again(endpoint, name):
    with endpoint.client() as client:
        created = client.create_game()
        mine = client.join(created, bot=name)
        mine.resign()
        assert mine.end is None
        assert client.join(created, bot=name).seat == mine.seat
        created.cancel()


def test_a_game_that_has_begun_cannot_be_cancelled(endpoint, new_name):
    with endpoint.client() as client:
        one, _ = begin(client, new_name)
        with pytest.raises(Refused, match="resign instead"):
            one.cancel()
        one.resign()


def test_a_decision_that_does_not_come_is_none(endpoint, name):
    with endpoint.client() as client:
        mine = client.join(client.create_game(), bot=name)
        assert mine.decision(wait=0.2) is None
        assert mine.end is None
        mine.cancel()
        assert mine.end.reason == "cancelled"
        assert mine.end.rank is None
        list(mine.replay().verify())


def test_whom_a_token_belongs_to(endpoint):
    with endpoint.client() as client:
        assert client.who_am_i() == ("local", "")


def test_an_unknown_game_is_the_error_of_the_tree(endpoint):
    with endpoint.client() as client, pytest.raises(UnknownGame, match="there is no game nothing"):
        client.replay("nothing")


def test_a_bad_token_is_refused_with_what_to_do(endpoint):
    with (
        Client(endpoint.target, "himeji_nonsense") as client,
        pytest.raises(InvalidToken) as refused,
    ):
        client.who_am_i()
    assert "--token-file" in refused.value.message
    assert "\n" not in refused.value.message


def test_an_arena_that_does_not_answer_is_waited_for_and_then_named():
    with (
        Client(target := free_target(), "himeji_x", patience=0.3) as client,
        pytest.raises(Unavailable) as refused,
    ):
        client.who_am_i()
    assert refused.value.message.startswith(f"nothing answers at {target}")
    assert "himeji serve" in refused.value.message


def test_a_call_survives_an_arena_that_is_away_for_a_while(start_arena, tmp_path, new_name):
    data = str(tmp_path / "data")
    arena = start_arena("--port", "0", "--data", data).opened()
    token = (tmp_path / "data" / "token").read_text().strip()
    with Client(arena.address, token, patience=120) as client:
        game = client.create_game()
        one, two = (client.join(game, bot=new_name()) for _ in range(2))
        port = arena.address.rpartition(":")[2]
        arena.process.kill()
        arena.ended()
        start_arena("--port", port, "--data", data)
        play_on(one, two)
        assert (one.end or two.end).reason == "finished"


def test_a_token_is_found_where_it_is(tmp_path, monkeypatch):
    for variable in ("HIMEJI_TOKEN", "HIMEJI_TOKEN_FILE", "HIMEJI_DATA"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingToken, match=r"\.himeji/token cannot be read"):
        find_token()
    (tmp_path / ".himeji").mkdir()
    (tmp_path / ".himeji" / "token").write_text("of the folder\n")
    assert find_token() == "of the folder"
    monkeypatch.setenv("HIMEJI_DATA", "")
    assert find_token() == "of the folder"
    (tmp_path / "named").write_text("of the named file\n")
    monkeypatch.setenv("HIMEJI_TOKEN_FILE", str(tmp_path / "named"))
    assert find_token() == "of the named file"
    monkeypatch.setenv("HIMEJI_TOKEN", "of the environment")
    assert find_token() == "of the environment"
    (tmp_path / "given").write_text("of the given file\n")
    assert find_token(file=tmp_path / "given") == "of the given file"
    assert find_token("given") == "given"


@pytest.mark.parametrize(
    "target",
    [
        *("127.0.0.1:50051", "127.9.8.7:1", "localhost:50051", "LocalHost", "[::1]:50051"),
        *("dns:///localhost:50051", "dns:127.0.0.1:1", "ipv4:127.0.0.1:1", "ipv6:[::1]:1"),
    ],
)
def test_no_proxy_is_asked_for_this_machine(target):
    assert proxy_options(target) == [("grpc.enable_http_proxy", 0)]


@pytest.mark.parametrize(
    "target", ["arena.example.org", "127.0.0.1.example.org:1", "localhost.example:1", "10.0.0.1:1"]
)
def test_a_proxy_may_lead_to_other_machines(target):
    assert proxy_options(target) == []


def test_waits_grow_and_are_never_the_same_for_two():
    backoff = Backoff()
    waits = [backoff.next() for _ in range(40)]
    assert waits[0] <= Backoff.FIRST
    assert all(wait <= Backoff.LONGEST for wait in waits)
    assert min(waits[20:]) >= Backoff.LONGEST / 2
    assert len(set(waits[20:])) > 10
    backoff.reset()
    assert backoff.next() <= Backoff.FIRST


def test_a_wait_is_longer_by_what_the_arena_asks_for():
    assert Backoff().next(RateLimited("later", {RETRY_AFTER: "2500"})) > 2.5
    assert Backoff().next(Draining("stopping")) <= Backoff.FIRST


class FailedCall(grpc.RpcError):
    """What a client is given for a failed call."""

    def __init__(self, code, error=None):
        self.code = lambda: code
        self.details = lambda: "" if error is None else error.message
        status = () if error is None else ((STATUS_DETAILS, to_status(error).SerializeToString()),)
        self.trailing_metadata = lambda: status


def refused(error):
    return FailedCall(STATUS_CODES[type(error)], error)


def answered_after(*failures):
    """What comes of a call that fails so, time after time, and is answered then."""
    left = list(failures)

    def method(request, **_):
        if left:
            raise left.pop(0)
        return request

    return RpcClient("127.0.0.1:1", "himeji_x", patience=60.0).call(method, "the request")


@pytest.mark.parametrize(
    "failure",
    [
        FailedCall(grpc.StatusCode.UNAVAILABLE),
        FailedCall(grpc.StatusCode.DEADLINE_EXCEEDED),
        FailedCall(grpc.StatusCode.CANCELLED),
        refused(Draining("stopping")),
        refused(RateLimited("later", {RETRY_AFTER: "1"})),
    ],
    ids=["unavailable", "deadline", "cut off by a stopping server", "draining", "rate limited"],
)
def test_a_call_is_tried_again_as_the_protocol_says(failure):
    assert answered_after(failure, failure) == "the request"


def test_a_call_that_was_refused_for_good_is_not_tried_again():
    with pytest.raises(UnknownGame):
        answered_after(refused(UnknownGame("no such game")))
