"""The page of a real arena, by plain HTTP: what it shows, what it refuses, and how one plays."""

import html
import re
import secrets
from urllib.parse import parse_qs

import pytest
from google.protobuf import json_format
from himeji import rules
from himeji.v1 import account_service_pb2 as accounts, game_service_pb2 as games
from himeji.wire.verification import checks
from himeji_server.limits import AccountLimits
from himeji_server.names import plays_in_browser
from himeji_server.web import browser_players
from himeji_server.web.template_filters import environment

from tests.server.page_client import HOSTILE, opened_place

CHOICE = re.compile(r'<button name="action" value="(\d+)"[^>]*?( data-reveals)?>')


@pytest.fixture(scope="module")
def place(tmp_path_factory, nodes):
    options = ()
    if nodes is not None:
        nodes.empty()
        options = ("--redis", nodes.url)
    with opened_place(tmp_path_factory.mktemp("page"), *options) as opened:
        yield opened


@pytest.fixture(scope="module")
def finished(place):
    """A game that two bots played to its end."""
    return place.finished_game()


# --- what is shown ------------------------------------------------------------------------------


def every_page(game_id):
    named = [
        *("/", "/play", "/games", "/games?state=over", "/ladders", "/ladders/base-2p"),
        *("/rulesets", "/bots/local/first", f"/games/{game_id}", f"/games/{game_id}/replay"),
    ]
    parts = ("", "/components", "/actions")
    return named + [f"/rulesets/{name}{part}" for name in rules.RULESETS for part in parts]


def test_every_page_is_there_with_its_policy_and_without_anything_inline_or_foreign(
    place, finished
):
    visitor = place.visitor()
    for path in every_page(finished):
        answer = visitor.get(path)
        assert answer.status == 200, path
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        page = answer.text
        assert not re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page), path
        assert all("src=" in tag for tag in re.findall(r"<script[^>]*>", page))
        loaded = re.findall(r'(?:src|href|action)="([^"]*)"', page)
        assert all(each.startswith(("/", "#")) for each in loaded), path
        assert page.count("<h1") == 1


def test_the_first_page_with_all_that_it_loads_is_small(place):
    visitor = place.visitor()
    page = visitor.get("/")
    loaded = set(re.findall(r'(?:src|href)="(/static/[^"]*)"', page.text))
    assert sum(len(visitor.get(path).body) for path in loaded) + len(page.body) < 100_000


def standing(place, mean, uncertainty):
    rating = {"mean": mean, "uncertainty": uncertainty, "conservative": mean - 3 * uncertainty}
    return {
        "place": place,
        "bot": f"ada/bot-{place}",
        "bot_version": 1,
        "rating": rating,
        "games": 9,
        "rank_counts": [5, 4],
        "mean_score": 40.0,
        "end_reasons": {},
    }


def test_a_ladder_shows_the_number_that_orders_it():
    ladder = {
        "name": "base-2p",
        "title": "The White Castle",
        "seats": 2,
        "options": {},
        "season": 1,
        "playing": 0,
        "waiting": 0,
        "ruleset": "base",
    }
    rows = [standing(2, 24.35, 5.31), standing(3, 27.10, 6.51)]
    content = {"ladder": ladder, "games": 9, "standings": rows, "next_page_token": ""}
    page = environment().get_template("ladder.html").render(content)
    assert "ordered by the rating: the mean minus three times its uncertainty" in page
    columns = re.findall(r'<th scope="col"[^>]*>([^<]+)</th>', page)
    cells = [re.findall(r"<t[dh][ >].*?</t[dh]>", row) for row in page.split("<tr>")[2:]]
    ratings = [row[columns.index("Rating")] for row in cells]
    assert [re.search(r"<b>([\d.]+)</b>", cell)[1] for cell in ratings] == ["8.4", "7.6"]


def test_reconstructed_parts_are_labelled_wherever_components_are_shown(place):
    visitor = place.visitor()
    for name, ruleset in rules.RULESETS.items():
        page = visitor.get(f"/rulesets/{name}/components").text
        described = [*ruleset.describe_components(), *ruleset.describe_board()]
        marked = sum(each.reconstructed for each in described)
        head = 1 if marked else 0  # where the label is explained
        assert page.count("† reconstructed") == marked + head
        shown = visitor.get(f"/rulesets/{name}").text
        assert all(f'id="{rule.id}"' in shown for rule in ruleset.describe_rules())


def test_hostile_texts_stay_text(place):
    name = f"local/evil-{secrets.token_hex(3)}"
    place.hostile_bot(name)
    page = place.visitor().get(f"/bots/{name}").text
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert "{{ 7*7 }}" in page
    assert page.count("&lt;script&gt;") == 2
    assert place.visitor().json(f"/api/bots/{name}")["description"] == HOSTILE
    missing = place.visitor().get("/games/%3Cscript%3Ealert(1)%3C/script%3E")
    assert missing.status == 404
    assert "<script>alert" not in missing.text


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example:80", "", "localhost.x"])
def test_a_foreign_name_of_this_machine_gets_nothing(place, host):
    assert place.visitor().get("/", host=host).status == 421


@pytest.mark.parametrize("host", ["localhost:1234", "127.0.0.1"])
def test_the_names_of_this_machine_are_answered_at_any_port(place, host):
    assert place.visitor().get("/rulesets", host=host).status == 200


def test_another_site_can_make_a_browser_do_nothing(place):
    visitor, fields = place.visitor(), {"ruleset": "solo", "seat": "0"}
    for site in ("cross-site", "same-site", "none"):
        assert visitor.post("/play", fields, sec_fetch_site=site).status == 403
    old_browser = {"origin": "http://evil.example", "host": f"127.0.0.1:{place.port}"}
    assert visitor.ask("POST", "/play", "ruleset=solo", **old_browser).status == 403
    assert visitor.ask("POST", "/play", "ruleset=solo").status == 403
    old_browser["origin"] = f"http://127.0.0.1:{place.port}"
    assert visitor.ask("POST", "/play", "ruleset=solo", **old_browser).status == 303


def test_refusals_are_json_where_json_is_asked_for(place):
    visitor = place.visitor()
    for path, status in (
        ("/api/games/no-such-game", 404),
        ("/api/ladders/nowhere", 404),
        ("/api/rulesets/chess", 404),
        ("/api/bots/local/nobody-at-all", 404),
        ("/api/games?state=odd", 400),
        ("/api/games?page_token=x", 400),
        ("/api/nothing", 404),
    ):
        answer = visitor.get(path)
        assert answer.status == status, path
        assert set(answer.json) == {"reason", "message"}


def test_an_empty_page_of_games_does_not_say_that_there_are_none_at_all(place):
    visitor = place.visitor()
    assert visitor.post("/play", {"ruleset": "solo", "seat": "0"}).status == 303
    token = last = ""
    while token := visitor.get(f"/api/games?page_size=1&page_token={token}").json[
        "next_page_token"
    ]:
        last = token
    assert "There are none on this page." in visitor.get(f"/games?page_token={last}").text


def test_a_list_of_games_keeps_its_filters_from_page_to_page(place, finished):
    visitor = place.visitor()
    path = "/games?owner=local&bot=local%2Ffirst&state=over&page_size=1"
    assert finished in visitor.get(path).text
    older = html.unescape(re.search(r'rel="next" href="([^"]+)"', visitor.get(path).text)[1])
    assert parse_qs(older.partition("?")[2]).items() >= parse_qs(path.partition("?")[2]).items()
    assert visitor.get(older).status == 200
    assert finished not in visitor.get("/games?bot=local%2Ffirst&state=playing").text
    assert finished not in visitor.get("/games?owner=nobody").text
    assert finished in visitor.get("/bots/local/first").text


def test_a_form_that_is_too_large_or_nonsense_is_refused(place):
    visitor = place.visitor()
    assert visitor.post("/play", {"ruleset": "x" * 20_000}).status == 413
    assert visitor.post("/play", {"ruleset": "solo", "seats": "two"}).status == 400
    assert visitor.post("/play", {"ruleset": "solo", "seat": "7"}).status == 400
    assert visitor.post("/play", {"ruleset": "solo", "clock": "0"}).status == 400
    assert visitor.post("/play", {"ruleset": "base", "seats": "2"}).status == 404


# --- JSON ---------------------------------------------------------------------------------------


def conforms(value, schema, document, where="answer"):
    """Check a value against the part of JSON Schema that the document uses."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        schema = document["components"]["schemas"][name]
    if "anyOf" in schema:
        kinds = [each.get("type") for each in schema["anyOf"]]
        schema = schema["anyOf"][kinds.index("null") if value is None else 0]
    kinds = {"string": str, "integer": int, "number": (int, float), "boolean": bool}
    if schema["type"] == "object" and "properties" in schema:
        assert set(value) == set(schema["properties"]), where
        for name, inner in schema["properties"].items():
            conforms(value[name], inner, document, f"{where}.{name}")
    elif schema["type"] == "object":
        for name, each in value.items():
            conforms(each, schema["additionalProperties"], document, f"{where}.{name}")
    elif schema["type"] == "array":
        for each in value:
            conforms(each, schema["items"], document, f"{where}[]")
    elif schema["type"] == "null":
        assert value is None, where
    else:
        assert isinstance(value, kinds[schema["type"]]), (where, value)


def test_every_route_of_the_api_is_described_and_answers_as_described(place, finished):
    visitor = place.visitor()
    document = visitor.json("/api/openapi.json")
    values = {"ladder": "base-2p", "owner": "local", "bot": "first", "game_id": finished}
    values |= {"ruleset": "matcha", "moment": "3"}
    assert len(document["paths"]) == 12
    for path, described in document["paths"].items():
        answer = visitor.get(path.format(**values))
        assert answer.status == 200, path
        content = described["get"]["responses"]["200"]["content"]
        media, schema = next((key, each["schema"]) for key, each in content.items())
        assert answer.headers["content-type"].startswith(media), path
        if "$ref" in schema:
            conforms(answer.json, schema, document)
        named = re.findall(r"\{(\w+)\}", path)
        told = [each["name"] for each in described["get"]["parameters"] if each["required"]]
        assert sorted(named) == sorted(told)


def test_a_replay_is_verified_drawn_and_the_same_file_as_everywhere(place, finished):
    visitor = place.visitor()
    replay = visitor.json(f"/api/games/{finished}/replay")
    assert replay["verified"] is True
    assert len(replay["checks"]) == 8
    final = [seat["score"] for seat in replay["game"]["seats"]]
    assert replay["moments"][-1]["scores"] == final
    assert [turn["number"] for turn in replay["turns"]] == list(range(1, len(replay["turns"]) + 1))
    message = json_format.Parse(
        visitor.get(f"/api/games/{finished}/replay.json").text, games.Replay()
    )
    request = games.GetReplayRequest(game_id=finished)
    assert message == place.call(place.games, "GetReplay", request).replay
    assert len(list(checks(message))) == 8
    first = visitor.get(f"/api/games/{finished}/boards/0.svg")
    assert first.text.startswith("<svg")
    assert "immutable" in first.headers["cache-control"]
    after = len(replay["moments"])
    assert visitor.get(f"/api/games/{finished}/boards/{after}.svg").status == 404


def test_a_game_that_goes_on_keeps_its_key_to_itself(place):
    game_id = place.new_game("local/first", "local/second")
    visitor = place.visitor()
    assert visitor.json(f"/api/games/{game_id}/replay")["verified"] is None
    file = visitor.get(f"/api/games/{game_id}/replay.json").json
    assert set(file["game"]["chance"]) <= {"commitment", "seatEntropy", "houseAddsNoEntropy"}


# --- live ---------------------------------------------------------------------------------------


def test_a_game_is_followed_action_by_action_to_its_end(place):
    game_id, visitor = place.new_game("local/first", "local/second"), place.visitor()
    stream = visitor.events({game_id: 0})
    name, first = next(stream)
    assert (name, first["game"], first["state"]) == ("news", game_id, "playing")
    assert set(first["parts"]) == {"head", "players", "seat", "log", "board"}
    place.act(game_id)
    name, second = next(stream)
    assert second["version"] > first["version"]
    assert 'id="last-action">seat' in second["parts"]["head"]
    assert second["parts"]["board"] != first["parts"]["board"]
    resign = games.ResignRequest(game_id=game_id, seat=0)
    place.call(place.games, "Resign", resign)
    told = list(stream)
    assert [name for name, _ in told][-2:] == ["news", "end"]
    assert told[-2][1]["state"] == "over"


# --- playing ------------------------------------------------------------------------------------


def choices(parts):
    """Action and whether it goes to chance, of every button."""
    return [(action, bool(reveals)) for action, reveals in CHOICE.findall(parts["seat"])]


def thought_out(visitor, game_id):
    """The open decision, and up to three actions on it that chance has no part in."""
    planned = []
    while True:
        decision, answer = visitor.plan(game_id, planned)
        assert answer.status == 200, answer.text
        open_ones = [each for each, reveals in choices(answer.json["parts"]) if not reveals]
        if not open_ones or len(planned) == 3:
            return decision, planned
        planned.append(open_ones[-1])


def test_a_person_thinks_a_turn_out_takes_it_back_and_sends_it_whole(place):
    planned = []
    for _ in range(40):  # after one deal in six, every first action goes to chance
        visitor = place.visitor()
        game_id = visitor.sit("solo", **{"option-difficulty": "hard"})
        decision, planned = thought_out(visitor, game_id)
        if planned:
            break
    facts = visitor.json(f"/api/games/{game_id}")["game"]
    assert facts["options"] == {"difficulty": "hard"}
    assert plays_in_browser(facts["seats"][0]["bot"])
    assert planned
    assert visitor.json(f"/api/games/{game_id}")["game"]["version"] == facts["version"]
    _, back = visitor.plan(game_id)
    assert "data-do" not in back.json["parts"]["seat"]
    sent = visitor.post(f"/games/{game_id}/actions", {"decision": decision, "action": planned})
    assert sent.json == {"played": [int(action) for action in planned]}
    again = visitor.post(f"/games/{game_id}/actions", {"decision": decision, "action": planned})
    assert again.json == sent.json
    log = visitor.json(f"/api/games/{game_id}")
    assert log["game"]["version"] == facts["version"] + 1


def test_a_seat_belongs_to_its_browser_alone(place):
    owner, other = place.visitor(), place.visitor()
    game_id = owner.sit()
    other.sit()
    decision, _ = owner.plan(game_id)
    for stranger, status in ((place.visitor(), 403), (other, 409)):
        assert stranger.plan(game_id)[1].status == status
        sent = stranger.post(f"/games/{game_id}/actions", {"decision": decision, "action": 16})
        assert sent.status in (status, 403)
        assert stranger.post(f"/games/{game_id}/resign").status in (status, 403)
    assert "Your turn" in owner.get(f"/games/{game_id}").text
    assert "Your turn" not in other.get(f"/games/{game_id}").text
    assert owner.post(f"/games/{game_id}/resign").status == 200
    assert owner.json(f"/api/games/{game_id}")["game"]["state"] == "over"


def test_a_game_that_has_not_begun_is_cancelled_by_its_guest_alone(place):
    owner, other = place.visitor(), place.visitor()
    game_id = owner.sit("base", seats="2", against="local/not-here")
    other.sit()
    shown = owner.get(f"/games/{game_id}").text
    assert f"/games/{game_id}/cancel" in shown
    assert f"/games/{game_id}/resign" not in shown
    assert place.visitor().post(f"/games/{game_id}/cancel").status == 403
    assert other.post(f"/games/{game_id}/cancel").status == 409
    assert owner.json(f"/api/games/{game_id}")["game"]["state"] == "waiting"
    assert owner.post(f"/games/{game_id}/cancel").status == 200
    assert owner.json(f"/api/games/{game_id}")["game"]["end_reason"] == "cancelled"
    begun = owner.sit()
    assert f"/games/{begun}/resign" in owner.get(f"/games/{begun}").text
    assert owner.post(f"/games/{begun}/cancel").status == 409


def test_the_session_is_a_cookie_that_scripts_and_other_sites_do_not_get(place):
    visitor = place.visitor()
    answer = visitor.post("/play", {"ruleset": "solo", "seat": "0"})
    flags = answer.headers["set-cookie"].lower()
    assert "httponly" in flags
    assert "samesite=strict" in flags
    secret = visitor.cookie.partition("=")[2]
    for path in ("/", answer.headers["location"], "/play", "/api/arena"):
        assert secret not in visitor.get(path).text
    forged = place.visitor()
    forged.cookie = f"{browser_players.COOKIE}=himeji_nonsense"
    assert forged.get(answer.headers["location"]).status == 200


def test_illegal_actions_are_refused_with_the_rule_before_they_are_sent(place):
    visitor = place.visitor()
    game_id = visitor.sit()
    _, answer = visitor.plan(game_id, ["5"])
    assert answer.status in (400, 409)
    assert "legal are" in answer.json["message"]
    decision, _ = visitor.plan(game_id)
    query = f"decision={decision + 5}"
    assert visitor.get(f"/games/{game_id}/turn?{query}", accept="application/json").status == 409


def test_a_guest_whose_name_was_given_to_another_is_admitted_anew(place):
    visitor = place.visitor()
    lost = visitor.sit()
    first = visitor.cookie
    token = accounts.ListTokensRequest(owner="guest", page_size=1)
    [newest] = place.call(place.accounts, "ListTokens", token).tokens
    revoke = accounts.RevokeTokenRequest(token_id=newest.token_id)
    place.call(place.accounts, "RevokeToken", revoke)
    assert "Your turn" not in visitor.get(f"/games/{lost}").text
    assert visitor.post(f"/games/{lost}/resign").status == 403
    assert "Your turn" in visitor.get(f"/games/{visitor.sit()}").text
    assert visitor.cookie != first


def test_new_guests_are_limited_with_a_page_that_says_so(place):
    statuses = set()
    for _ in range(AccountLimits().guests_per_minute + 1):
        statuses.add(place.visitor().post("/play", {"ruleset": "solo", "seat": "0"}).status)
    assert statuses == {303, 429}
    # The developer is not held up.
    request = accounts.CreateBotRequest(bot="local/after-the-flood")
    place.call(place.accounts, "CreateBot", request)
