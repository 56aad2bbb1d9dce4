"""Every ruleset is played in-process and online, with nothing that asks for its name."""

import re
from pathlib import Path

import pytest
from himeji import rules
from himeji_bots.random import RandomBot
from himeji_sdk import play, run

PACKAGES = Path(__file__).parents[2]
FOR_TWO = [name for name, ruleset in rules.RULESETS.items() if 2 in ruleset.seat_counts]
every_ruleset_for_two = pytest.mark.parametrize("ruleset", FOR_TWO)


@pytest.mark.parametrize("ruleset", rules.RULESETS)
def test_bots_play_every_ruleset_in_process(ruleset):
    seats = rules.ruleset(ruleset).seat_counts[0]
    played = play([RandomBot(seat) for seat in range(seats)], ruleset=ruleset, seed=4)
    assert played.game.over
    assert played.game.ruleset.name == ruleset


def test_options_reach_the_game():
    bots = [RandomBot(1), RandomBot(2)]
    played = play(bots, ruleset="duel", seed=4, options={"layout": "first-game"})
    assert played.game.options == {"layout": "first-game"}


@every_ruleset_for_two
def test_bots_play_every_ruleset_online_and_the_replay_can_be_verified(endpoint, name, ruleset):
    against = ["house/random"]
    (end,) = run(
        RandomBot(1), endpoint.target, endpoint.token, name=name, against=against, ruleset=ruleset
    )
    assert end.reason == "finished"
    with endpoint.client() as client:
        replay = client.replay(end.game_id)
        assert len(list(replay.verify())) == 8


def test_no_package_but_the_engine_knows_a_ruleset_by_its_name():
    sources = [
        path for part in ("sdk", "server", "bots") for path in (PACKAGES / part).rglob("*.py")
    ]
    names = "|".join(name for name in rules.RULESETS if name != "base")  # base is the default
    branch = re.compile(rf"""(==|!=|\bin\b|case)\s*\(?["']({names}|castle)["']""")
    assert len(sources) > 30
    found = [path.name for path in sources if branch.search(path.read_text(encoding="utf-8"))]
    assert found == []
