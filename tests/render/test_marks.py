"""Places in pictures: what actions are about can be found on the board, for every ruleset."""

from himeji import render, rules

from tests.rules.playing import every_table, play, policy


def test_an_action_means_the_longest_place_that_its_text_ends_with():
    places = {"steward-room-1", "steward-room-1 top", "gate", "yard-1", "blue"}
    assert render.place_of("climb gate steward-room-1", places) == "steward-room-1"
    assert render.place_of("row steward-room-1 top", places) == "steward-room-1 top"
    assert render.place_of("gate", places) == "gate"
    assert render.place_of("exchange 1 seal for 1 coin", places) == ""


@every_table
def test_dice_and_tokens_are_taken_and_placed_at_marked_places_and_no_mark_means_nothing(table):
    texts = rules.ruleset(table.ruleset).actions.texts
    everywhere = {ending for text in texts.values() for ending in _endings(text)}
    game = table.begin(3)
    for number, _ in enumerate(play(game, policy(3))):
        if number % 25:
            continue
        places = render.marks(render.svg(game))
        # A colour that a ruleset has no action for still has its row in the domain.
        assert {place for place in places if place not in everywhere} <= {"domain-row green"}
        for action in game.legal():
            if texts[action].startswith(("take ", "place ")):
                assert render.place_of(texts[action], places) or "lilies" in texts[action]


def _endings(text):
    words = text.split(" ")
    return {" ".join(words[start:]) for start in range(len(words))}
