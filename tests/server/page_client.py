"""A small browser without a screen: it keeps its cookie and says where it comes from."""

import http.client
import json
from urllib.parse import urlencode

PATIENCE = 60.0


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

    def news(self, path, **headers):
        """The events of a stream, one after the other: name and content."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request("GET", path, headers=self._headers(headers))
            response = connection.getresponse()
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
