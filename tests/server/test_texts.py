"""Free texts: which characters a client may send that others will see."""

import pytest
from himeji.rules.errors import InvalidRequest
from himeji.v1.play_service_pb2 import Hello
from himeji_server.play.session import check_hello
from himeji_server.texts import check_text

DECEIVING = {
    "NUL": "\x00",
    "escape": "\x1b",
    "carriage return": "\r",
    "tabulator": "\t",
    "delete": "\x7f",
    "C1": "\x9b",
    "soft hyphen": "\xad",
    "zero-width space": "\u200b",
    "zero-width joiner": "\u200d",
    "left-to-right mark": "\u200e",
    "line separator": "\u2028",
    "paragraph separator": "\u2029",
    "right-to-left override": "\u202e",
    "isolate": "\u2067",
    "Hangul filler": "\u3164",
    "private use": "\ue000",
    "byte order mark": "\ufeff",
    "not a character": "\uffff",
    "unassigned": "\U000e0080",
    "tag": "\U000e0041",
    "variation selector": "\U000e0100",
}


@pytest.mark.parametrize("name", DECEIVING)
def test_a_character_that_deceives_is_refused_and_named_without_repeating_it(name):
    character = DECEIVING[name]
    with pytest.raises(
        InvalidRequest, match=f"character 3 of title, U.{ord(character):04X}"
    ) as bad:
        check_text(f"ab{character}c", "title", 80, lines=True)
    assert bad.value.details == {"field": "title"}
    assert character not in bad.value.message


@pytest.mark.parametrize(
    "text", ["", "Zoë's bot, v1.4 (β)", "白鷺城", "שלום", "☃ \N{FIRE}\ufe0f", "<b>&{{ 7*7 }}"]
)
def test_what_people_write_is_accepted_in_any_script(text):
    assert check_text(text, "title", 80) == text


def test_a_line_feed_is_for_texts_with_lines():
    assert check_text("one\ntwo", "description", 80, lines=True) == "one\ntwo"
    with pytest.raises(InvalidRequest, match="000A"):
        check_text("one\ntwo", "title", 80)


def test_a_text_has_to_be_normalised():
    assert check_text("é", "title", 80) == "é"
    with pytest.raises(InvalidRequest, match="NFC"):
        check_text("e\u0301", "title", 80)


@pytest.mark.parametrize("field", ["client", "engine_version"])
def test_a_client_introduces_itself_in_plain_characters(field):
    check_hello(Hello(protocol_version=1, **{field: "mybot/1.4"}))
    with pytest.raises(InvalidRequest) as bad:
        check_hello(Hello(protocol_version=1, **{field: "mybot\x1b[2J"}))
    assert bad.value.details == {"field": field}
