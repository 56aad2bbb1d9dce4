"""A small browser without a screen: it keeps its cookie and says where it comes from."""

import http.client
import json
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlencode

import grpc
from himeji.v1 import (
    account_service_pb2 as accounts,
    account_service_pb2_grpc,
    game_service_pb2 as games,
    game_service_pb2_grpc,
)
from himeji.v1.game_pb2 import SeatPlan

from tests.server.conftest import Arena

PATIENCE = 120.0
HOSTILE = '<script>alert("1")</script><img src=x onerror=alert(2)>"\'&{{ 7*7 }}'


class Answer:
    """What came back."""

    def __init__(self, response):
        self.status = response.status
        self.headers = response.headers
        self.body = response.read()

    @property
    def text(self):
        return self.body.decode()

    @property
    def json(self):
        return json.loads(self.body)


class Visitor:
    """Somebody with a browser of their own."""

    def __init__(self, port):
        self.port = port
        self.cookie = ""

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, self._headers(headers))
            answer = Answer(connection.getresponse())
        finally:
            connection.close()
        if "set-cookie" in answer.headers:
            self.cookie = answer.headers["set-cookie"].partition(";")[0]
        return answer

    def get(self, path, **headers):
        return self.ask("GET", path, **headers)

    def json(self, path):
        answer = self.get(path, accept="application/json")
        assert answer.status == 200, answer.text
        return answer.json

    def post(self, path, fields=(), **headers):
        site = {"sec-fetch-site": "same-origin", "accept": "application/json"}
        kind = {"content-type": "application/x-www-form-urlencoded"}
        return self.ask("POST", path, urlencode(fields, doseq=True), **site | kind | headers)

    def events(self, versions, **headers):
        """The events of the stream of some games: name and content, one after the other."""
        games = ",".join(f"{game_id}:{version}" for game_id, version in versions.items())
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", f"/events?games={games}", headers=self._headers(headers))
            response = connection.getresponse()
            assert response.status == 200, response.read()
            assert response.headers["content-type"].startswith("text/event-stream")
            name = ""
            for line in response:
                word, _, rest = line.decode().strip().partition(": ")
                if word == "event":
                    name = rest
                elif word == "data":
                    yield name, json.loads(rest)
        finally:
            connection.close()

    def _headers(self, headers):
        own = {"cookie": self.cookie} if self.cookie else {}
        return own | {name.replace("_", "-"): value for name, value in headers.items()}

    def sit(self, ruleset="solo", **fields):
        """Begin a game of one's own; its id."""
        answer = self.post("/play", {"ruleset": ruleset, "seat": "0"} | fields)
        assert answer.status == 303, answer.text
        return answer.headers["location"].removeprefix("/games/")

    def plan(self, game_id, actions=()):
        """The turn so far, as the page shows it: decision, choices, and whether it is complete."""
        decision = self.json(f"/api/games/{game_id}")["game"]["decision"]
        query = urlencode({"decision": decision, "action": actions}, doseq=True)
        return decision, self.get(f"/games/{game_id}/turn?{query}", accept="application/json")


class Place:
    """An arena with a page, and the local owner's way in."""

    def __init__(self, arena):
        self.port = int(arena.facts["page"].rpartition(":")[2])
        self.page = arena.facts["page"]
        self.channel = grpc.insecure_channel(arena.address)
        secret = Path(arena.facts["token"]).read_text().strip()
        self.metadata = (("authorization", f"Bearer {secret}"),)
        self.games = game_service_pb2_grpc.GameServiceStub(self.channel)
        self.accounts = account_service_pb2_grpc.AccountServiceStub(self.channel)

    def visitor(self):
        return Visitor(self.port)

    def call(self, stub, method, request):
        return getattr(stub, method)(request, metadata=self.metadata, timeout=120)

    def new_game(self, *bots, ruleset="base"):
        """A game of the local owner's bots, which has begun."""
        request = games.CreateGameRequest(ruleset=ruleset, seats=[SeatPlan()] * len(bots))
        game = self.call(self.games, "CreateGame", request).game
        for bot in bots:
            request = games.JoinGameRequest(game_id=game.game_id, bot=bot)
            self.call(self.games, "JoinGame", request)
        return game.game_id

    def act(self, game_id):
        """Play the first legal action for whoever is asked."""
        asked = self.call(self.games, "GetDecision", games.GetDecisionRequest(game_id=game_id))
        if not asked.HasField("decision"):
            return False
        request = games.SubmitActionsRequest(
            game_id=game_id,
            decision_id=asked.decision.decision_id,
            actions=asked.decision.legal_actions[-1:],
        )
        self.call(self.games, "SubmitActions", request)
        return True

    def finished_game(self):
        """A game that two bots played to its end."""
        game_id = self.new_game("local/first", "local/second")
        while self.act(game_id):
            pass
        return game_id

    def hostile_bot(self, name):
        """A bot whose description and version would be markup, if they were not text."""
        request = accounts.CreateBotRequest(
            bot=name, description=HOSTILE, version_label=HOSTILE[:80]
        )
        self.call(self.accounts, "CreateBot", request)


@contextmanager
def opened_place(folder, *options):
    """An arena with a page, for as long as it is needed."""
    arena = Arena(
        *("--port", "0", "--http-port", "0", "--data", str(folder / "data"), "--house", "none"),
        *options,
    )
    try:
        place = Place(arena.opened())
        yield place
        place.channel.close()
        assert arena.stop() == 0
    finally:
        arena.process.kill()
        arena.ended()
        arena.process.stdout.close()
        arena.process.stderr.close()
