"""Where the page is served: on which port, by which processes, in which modes, beside the house."""

import socket

import pytest
from himeji_server.startup_errors import ExitCode, StartRefusedError
from himeji_server.web import server

from tests.server.page_client import Visitor


def visitor_of(arena):
    return Visitor(int(arena.facts["page"].rpartition(":")[2]))


def test_the_usual_port_gives_way_and_a_port_that_was_named_does_not(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        monkeypatch.setattr(server, "DEFAULT_HTTP_PORT", port)
        with server.bind_socket(server.USUAL_HTTP_PORT) as listener:
            assert listener.getsockname()[1] not in (0, port)
        with pytest.raises(StartRefusedError, match="--http-port") as refused:
            server.bind_socket(port)
        assert refused.value.exit_code == ExitCode.PORT_IN_USE
    with server.bind_socket(server.USUAL_HTTP_PORT) as listener:
        assert listener.getsockname()[1] == port


def test_without_a_port_there_is_no_page(start_arena):
    arena = start_arena("--port", "0", "--http-port", "none").opened()
    assert "page" not in arena.facts
    assert arena.stop() == 0


def test_every_process_serves_the_page_and_knows_every_browser_player(start_arena):
    arena = start_arena("--port", "0", "--http-port", "0", "--processes", "2").opened()
    visitor = visitor_of(arena)
    game_id = visitor.sit()
    answers = [visitor.plan(game_id)[1] for _ in range(8)]
    assert [answer.status for answer in answers] == [200] * 8
    assert arena.stop() == 0


def test_people_do_not_play_where_there_is_no_local_owner(start_arena):
    arena = start_arena("--port", "0", "--http-port", "0", "--no-dev").opened()
    visitor = visitor_of(arena)
    assert "development mode" in visitor.get("/play").text
    answer = visitor.post("/play", {"ruleset": "solo", "seat": "0"})
    assert answer.status == 403
    assert not visitor.cookie


def test_the_house_takes_the_other_seats_and_plays_for_spectators(start_arena, wait_until):
    arena = start_arena("--port", "0", "--http-port", "0", "--house", "random").opened()
    visitor, house = visitor_of(arena), "house/random"
    wait_until(lambda: visitor.json("/api/arena")["house"] == [house], "the house is here")
    for ruleset, seats in (("base", "4"), ("duel", "2")):
        game_id = visitor.sit(ruleset, seats=seats, against=house)

        def asked(game_id=game_id):
            return "Your turn" in visitor.get(f"/games/{game_id}").text

        wait_until(asked, "it is the person's turn")
        bots = [seat["bot"] for seat in visitor.json(f"/api/games/{game_id}")["game"]["seats"]]
        assert bots[1:] == [house] * (int(seats) - 1)
    watched = visitor.sit("matcha", seat="nobody", seats="2", against=house)
    wait_until(
        lambda: visitor.json(f"/api/games/{watched}")["game"]["state"] == "over",
        "the house has played",
    )
    assert visitor.json(f"/api/games/{watched}/replay")["verified"]
