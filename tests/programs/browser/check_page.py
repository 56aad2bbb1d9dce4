"""`make test-browser`: the web page in a real browser, watched, stepped through and played."""

import re

import pytest
from playwright.sync_api import expect

from tests.programs.browser.chromium import open_browser
from tests.server.page_client import opened_place

TIMEOUT_MS = 120_000.0
MAX_CLICKS = 1_500
pytestmark = pytest.mark.timeout(900)  # a whole game, on a busy machine
expect.set_options(timeout=TIMEOUT_MS)
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1360, "height": 900}
CONTRAST = """(selector) => {
  const numbers = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const found = numbers(getComputedStyle(each).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found.slice(0, 3);
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll(selector)].map((element) => {
    const ink = light(numbers(getComputedStyle(element).color).slice(0, 3));
    const under = light(ground(element));
    return (Math.max(ink, under) + 0.05) / (Math.min(ink, under) + 0.05);
  });
}"""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    with opened_place(tmp_path_factory.mktemp("page")) as opened:
        yield opened


@pytest.fixture(scope="module")
def chromium():
    with open_browser() as opened:
        yield opened


@pytest.fixture
def visit(chromium, place):
    """Opens pages, and checks at the end that none had an error or a foreign request.

    `calm=False` is for pages that are made to fail, which browsers report as errors.
    """
    contexts, problems = [], []

    def open_page(path, *, calm=True, script="", **look):
        context = chromium.new_context(
            base_url=place.page, viewport=look.pop("size", DESKTOP), **look
        )
        contexts.append(context)
        context.add_init_script(script)
        page = context.new_page()
        page.set_default_timeout(TIMEOUT_MS)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: (problems.append(dialog.message), dialog.dismiss()))
        if calm:
            page.on(
                "console", lambda entry: problems.append(entry.text) if entry.type == "error" else 0
            )
        foreign = re.compile(rf"^(?!{re.escape(place.page)})")
        page.on("request", lambda r: problems.append(r.url) if foreign.match(r.url) else 0)
        page.goto(path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert problems == []


def test_the_home_page_leads_everywhere_and_can_be_used_by_keyboard(visit):
    page = visit("/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("The White Castle")
    expect(page.get_by_text("himeji ladder join mybot")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator(":focus")).to_have_text("Skip to the content")
    for name in ("Games", "Ladders", "Rules", "Take a seat"):
        page.get_by_label("Pages").get_by_role("link", name=name).click()
        expect(page.get_by_role("heading", level=1)).to_have_text(name)


@pytest.mark.parametrize("script", ["", "delete window.SharedWorker"], ids=["shared", "alone"])
def test_a_live_game_advances_before_the_eyes(visit, place, script):
    game_id = place.new_game("local/first", "local/second")
    page = visit(f"/games/{game_id}", script=script)
    expect(page.locator(".sheet svg")).to_be_visible()
    for number in (1, 2):
        place.act(game_id)
        expect(page.locator(".log .act")).to_have_count(number)
        expect(page.locator("#last-action")).to_contain_text("seat")
    expect(page.locator(".log .rule").first).to_have_attribute("href", re.compile("#B-"))
    while place.act(game_id):
        pass
    expect(page.get_by_text("over, finished")).to_be_visible(timeout=TIMEOUT_MS)
    page.locator(".breakdown").first.wait_for(state="attached")


def test_many_live_games_in_tabs_of_one_browser_leave_room_for_other_pages(visit, place):
    game_ids = [place.new_game("local/first", "local/second") for _ in range(7)]
    first = visit(f"/games/{game_ids[0]}")
    tabs = [first, *(first.context.new_page() for _ in game_ids[1:])]
    for tab, game_id in zip(tabs, game_ids, strict=True):
        tab.goto(f"/games/{game_id}")
        tab.locator(".game[data-ready]").wait_for()
    for game_id in game_ids:
        place.act(game_id)
    for tab in tabs:
        expect(tab.locator(".log .act")).to_have_count(1)
    ladders = first.context.new_page()
    ladders.goto("/ladders")
    expect(ladders.get_by_role("heading", level=1)).to_have_text("Ladders")


SHOW = """(state) => {
  Object.defineProperty(document, "visibilityState", { value: state, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


def test_a_tab_that_cannot_be_seen_follows_nothing_and_catches_up_later(visit, place):
    game_id = place.new_game("local/first", "local/second")
    page, other = visit(f"/games/{game_id}"), visit(f"/games/{game_id}")
    for tab in (page, other):
        tab.locator(".game[data-ready]").wait_for()
    page.evaluate(SHOW, "hidden")
    page.wait_for_timeout(500)
    place.act(game_id)
    expect(other.locator(".log .act")).to_have_count(1)
    expect(page.locator(".log .act")).to_have_count(0)
    page.evaluate(SHOW, "visible")
    expect(page.locator(".log .act")).to_have_count(1)


def test_a_replay_is_stepped_through_by_keys_slider_turns_and_played(visit, place):
    page = visit(f"/games/{place.finished_game()}/replay")
    replay = page.locator(".replay[data-ready]")
    expect(replay).to_have_attribute("data-shown", "0")
    first = page.locator(".sheet svg").inner_html()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(replay).to_have_attribute("data-shown", "2")
    assert page.locator(".sheet svg").inner_html() != first
    expect(page.locator("#count")).to_contain_text("2 of")
    page.keyboard.press("PageDown")
    expect(page.locator("#what")).to_contain_text("seat")
    page.keyboard.press("Home")
    expect(replay).to_have_attribute("data-shown", "0")
    page.get_by_role("button", name="Play").click()
    expect(replay).to_have_attribute("data-shown", "1")
    page.get_by_role("button", name="Pause").click()
    page.locator('[data-do="turn"]').select_option(index=4)
    expect(page.locator("#what")).to_contain_text("seat")
    page.keyboard.press("Escape")
    page.locator('[data-do="slide"]').fill("10")
    expect(replay).to_have_attribute("data-shown", "10")
    expect(page.get_by_text("Verified")).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download the replay").click()
    assert download.value.suggested_filename.endswith(".json")


def settled(page):
    """Wait until the seat's part shows something to do, or the end; True while the game goes on."""
    page.locator(
        '.turn:not([inert]) .choices button, .turn:not([inert]) [data-do="confirm"], '
        '.game[data-state="over"] .seat h2'
    ).first.wait_for()
    return page.locator(".game").get_attribute("data-state") != "over"


def test_a_person_plays_a_whole_game_by_clicking_legal_actions(visit):
    page = visit("/play")
    page.locator('form[aria-labelledby="play-solo"] button[value="0"]').click()
    page.locator(".game[data-ready]").wait_for()
    undone = on_board = 0
    for _ in range(MAX_CLICKS):
        if not settled(page):
            break
        confirm, before = page.locator('[data-do="confirm"]'), page.locator(".seat").inner_html()
        places = page.locator(".sheet .choice")
        undo = page.locator('[data-do="undo"]')
        if undo.count() and undone < 2:
            undone += 1
            undo.click()
        elif confirm.count():
            confirm.click()
        elif places.count() and on_board < 15:
            on_board += 1
            places.first.dispatch_event("click")
            if page.locator(".near").count():
                page.locator(".near").first.click()
        else:
            page.locator(".choices:not(.free) button").last.click()
        changed = "(before) => document.querySelector('.seat').innerHTML !== before"
        page.wait_for_function(changed, arg=before)
    else:
        pytest.fail("the game did not end")
    assert undone == 2
    assert on_board
    expect(page.get_by_role("heading", name="The game is over")).to_be_visible()
    expect(page.get_by_text("over, finished")).to_be_visible()


def sit_down(visit, **look):
    page = visit("/play", **look)
    page.locator('form[aria-labelledby="play-solo"] button[value="0"]').click()
    page.locator(".game[data-ready] .turn").wait_for()
    return page


def version_of(page):
    """The version of the game, as the arena knows it."""
    game_id = page.locator(".game").get_attribute("data-game")
    return page.evaluate(f"fetch('/api/games/{game_id}').then((r) => r.json())")["game"]["version"]


def test_a_turn_is_planned_by_the_keyboard_and_not_sent_before_it_is_confirmed(visit):
    page = sit_down(visit)
    before, choices = version_of(page), page.locator(".choices:not(.free) button")
    choices.first.focus()
    confirm = page.locator('[data-do="confirm"]')
    while not confirm.count():
        assert page.locator(".choices:focus-within [data-declines]:focus").count() == 0
        declining = choices.evaluate_all("(all) => all.map((each) => 'declines' in each.dataset)")
        assert True not in declining[:-1]
        shown = page.locator(".seat").inner_html()
        if page.locator(".choices button:focus").count():
            page.keyboard.press("Enter")
        else:
            choices.last.click()
        changed = "(before) => document.querySelector('.seat').innerHTML !== before"
        page.wait_for_function(changed, arg=shown)
    expect(confirm).to_be_focused()
    assert version_of(page) == before
    expect(page.locator(".sheet svg")).to_contain_text("Seat 0 has not confirmed this turn yet")
    expect(page.locator(".asked.unconfirmed")).to_contain_text("Your turn is not confirmed yet")
    expect(page.locator(".player.asked")).to_contain_text("has to confirm the turn")
    page.keyboard.press("Enter")
    expect(page.locator(".asked.unconfirmed")).to_have_count(0)
    assert version_of(page) > before


def test_a_plan_survives_a_lost_connection_and_goes_on_by_itself(visit):
    open_one = page = None
    for _ in range(20):  # after some deals, every first action goes to chance
        page = sit_down(visit, calm=False)
        open_one = page.locator(".choices:not(.free) button:not([data-reveals])").first
        if open_one.count():
            break
    open_one.click()
    steps = page.locator(".steps li")
    expect(steps).to_have_count(1)
    page.context.set_offline(True)
    page.locator(".choices:not(.free) button, [data-do=confirm]").first.click()
    status = page.locator("#status")
    expect(status).to_contain_text("The arena cannot be reached. Your turn so far is kept.")
    expect(steps).to_have_count(1)
    page.context.set_offline(False)
    expect(status).to_be_empty()
    expect(steps).not_to_have_count(1)


def test_a_clock_that_is_low_is_seen_in_its_colour_and_in_the_title(visit):
    page = sit_down(visit)
    assert page.title().startswith("Your turn")
    clock = page.locator(".clock[data-mine]")
    expect(clock).not_to_have_class(re.compile("low"))
    clock.evaluate("(each) => { each.dataset.ms = 59000 }")
    expect(clock).to_have_class(re.compile("low"))
    expect(page).to_have_title(re.compile(r"^0:5\d left! "))
    assert min(page.evaluate(CONTRAST, ".clock.low")) >= 4.5


def test_a_person_gives_up(visit):
    page = visit("/play")
    page.locator('form[aria-labelledby="play-matcha-solo"] button[value="0"]').click()
    page.locator(".game[data-ready] .turn").wait_for()
    page.get_by_text("Give up", exact=True).click()
    page.get_by_role("button", name="Give up for good").click()
    expect(page.get_by_role("heading", name="The game is over")).to_be_visible()
    expect(page.locator(".player").first).to_contain_text("resigned")


def test_a_hostile_bot_stays_text(visit, place):
    place.hostile_bot("local/hostile")
    page = visit("/bots/local/hostile")
    expect(page.locator(".lead")).to_contain_text('<script>alert("1")</script>')
    assert page.locator("main img, main script").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_readable_on_a_phone_and_in_the_dark(visit, place, scheme):
    game_id = place.finished_game() if scheme == "light" else place.new_game("local/a", "local/b")
    paths = ["/", "/play", "/games", "/ladders", "/ladders/base-2p", "/rulesets/duel"]
    for path in [*paths, f"/games/{game_id}", f"/games/{game_id}/replay"]:
        page = visit(path, size=PHONE, color_scheme=scheme)
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, f"{path} is {wide} pixels too wide for a phone"
        seen = "p, a, h1, h2, th, td, li, button, summary, .label, caption"
        assert min(page.evaluate(CONTRAST, f"body :is({seen})")) >= 4.5, (path, scheme)
        page.close()
