"""What the panels of all pictures are made of: frames, effects, marks of seats, goods, points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from himeji.render.canvas import Canvas, Number, shortened, width_of, wrapped
from himeji.render.icons import ICONS, badge, icon
from himeji.render.page_blocks import Group
from himeji.render.palette import CLANS, EDGE, INK, LIGHT_ROW, MUTED, ON_DARK, PANEL
from himeji.render.phrases import EXPLAINED, dagger, parted, phrase
from himeji.render.situation import answers, asked, decider, foremost, goods_of, points, who
from himeji.rules.clans import ClanGame
from himeji.rules.components import AnyComponent
from himeji.rules.constants import GOOD_NAMES, INFLUENCE, UNLIMITED
from himeji.rules.effects import Effect

PAD: Final = 14
TIMES: Final = "\N{MULTIPLICATION SIGN}"
ENDLESS: Final = 10_000


def panel(width: Number, title: str = "", remark: str = "") -> Canvas:
    """An empty panel with its heading; its frame is drawn when its height is known."""
    canvas = Canvas(width)
    if title:
        canvas.text(PAD, 23, title, size=14, bold=True)
    if remark:
        canvas.text(width - PAD, 23, remark, size=11, fill=MUTED, anchor="end")
    return canvas


def framed(canvas: Canvas, height: Number) -> Canvas:
    """The panel on its ground, as high as wanted."""
    whole = Canvas(canvas.width, height)
    whole.rect(
        0.5, 0.5, canvas.width - 1, height - 1, rx=9, fill=PANEL, stroke=EDGE, stroke_width=1
    )
    whole.parts += canvas.parts
    return whole


class Pen:
    """Writes icons and words from left to right on one line."""

    def __init__(
        self, canvas: Canvas, x: Number, y: Number, *, size: Number = 12, fill: str = INK
    ) -> None:
        self.canvas = canvas
        self.x = x
        self.y = y
        self.size = size
        self.fill = fill

    def word(self, text: str, *, bold: bool = False, limit: Number = ENDLESS) -> None:
        """Write a text; it is cut where it would pass the limit."""
        shown = shortened(text, self.size, limit - self.x, bold=bold)
        self.canvas.text(self.x, self.y, shown, size=self.size, fill=self.fill, bold=bold)
        self.x += width_of(shown, self.size, bold=bold) + 4

    def icon(self, word: str) -> None:
        """Draw an icon, if the word has one; on a dark ground it gets a light one of its own."""
        if word not in ICONS:
            return
        edge = self.size + 3
        y = self.y - self.size
        if self.fill == ON_DARK:
            self.canvas.rect(self.x, y - 1.5, edge + 4, edge + 3, rx=4, fill=LIGHT_ROW)
            self.x += 2
        icon(self.canvas, word, self.x, y, edge)
        self.x += edge + 4

    def effect(self, effect: Effect, *, limit: Number = ENDLESS) -> None:
        """An effect as icon and words."""
        self.icon(parted(effect)[1])
        self.word(phrase(effect), limit=limit)

    def effects(self, effects: Sequence[Effect], *, limit: Number = ENDLESS) -> None:
        """Several effects that come together."""
        for number, effect in enumerate(effects):
            if number:
                self.word("+")
            self.effect(effect, limit=limit)


def members(canvas: Canvas, groups: Sequence[Group], x: Number, y: Number) -> None:
    """Members by clan: a badge each, with a number if there are several."""
    for seat, count in groups:
        badge(canvas, seat, x + 10, y)
        x += 24
        if count > 1:
            canvas.text(x - 1, y + 4, f"{TIMES}{count}", size=12, bold=True)
            x += 20


def small_id(canvas: Canvas, component: AnyComponent, x: Number, y: Number, width: Number) -> None:
    """The id of a component, small; a reconstruction carries the mark that the legend explains."""
    marked = dagger(reconstructed=component.reconstructed)
    label = shortened(component.id, 10, width - width_of(marked, 10)) + marked
    canvas.text(x, y, label, size=10, fill=MUTED)


def banner(game: ClanGame, width: Number, aside: Number = 0) -> Canvas:
    """Whose decision it is, what is asked, the answers; room for something aside on the right."""
    seat = foremost(game)
    look, right = CLANS[seat], width - 20 - aside
    lines = wrapped(answers(game), 12, right - 78, "  ·  ")
    canvas = Canvas(width, 46 + 17 * len(lines))
    canvas.rect(0, 0, width, canvas.height, rx=9, fill=look.tint, stroke=look.fill, stroke_width=2)
    badge(canvas, seat, 36, canvas.height / 2, 15)
    question = asked(game)
    question = shortened(question[0].upper() + question[1:], 17, right - 70, bold=True)
    canvas.text(68, 29, question, size=17, bold=True)
    for number, line in enumerate(lines):
        canvas.text(68, 50 + 17 * number, line, size=12, fill=MUTED)
    return canvas


def seat_name(game: ClanGame, canvas: Canvas, seat: int) -> None:
    """The head of a seat's panel: its mark, whether it decides now, its points."""
    look = CLANS[seat]
    canvas.path(
        f"M9.5 .5H{canvas.width - 9.5:g}a9 9 0 0 1 9 9V40H.5V9.5a9 9 0 0 1 9-9z", fill=look.tint
    )
    badge(canvas, seat, 28, 20, 12)
    canvas.text(48, 26, who(game, seat).capitalize(), size=16, bold=True)
    if decider(game) == seat:
        canvas.text(120, 26, "decides now", size=12, fill=look.fill, bold=True)
    canvas.text(canvas.width - PAD, 26, points(game, seat), size=14, bold=True, anchor="end")


def seat_goods(game: ClanGame, canvas: Canvas, seat: int) -> None:
    """What a seat holds, with the caps."""
    step = (canvas.width - 2 * PAD) / len(game.ruleset.goods)
    for number, good in enumerate(goods_of(game, seat)):
        x, cap = PAD + step * number, game.caps[good]
        icon(canvas, GOOD_NAMES[good], x, 52, 22)
        canvas.text(x + 28, 64, str(game.has(seat, good)), size=16, bold=True)
        word = GOOD_NAMES[good].replace("vp", "VP")
        limit = f" of {cap}" if cap < UNLIMITED and good != INFLUENCE else ""
        canvas.text(x + 28, 78, f"{word}{limit}", size=10, fill=MUTED)


def seat_points(game: ClanGame, canvas: Canvas, seat: int) -> None:
    """The points of a seat by scoring line, at the foot of its panel."""
    parts = [f"{line} {gained}" for line, gained in game.breakdown()[seat].items()]
    line = " · ".join(parts)
    size = min(10.5, 10.5 * (canvas.width - 2 * PAD) / width_of(line, 10.5))
    canvas.text(PAD, canvas.height - 9, line, size=round(size, 1), fill=MUTED)


class Key(NamedTuple):
    """What a legend explains: icons by their words, grounds by their colours, and the rest."""

    words: Mapping[str, str]
    grounds: Sequence[tuple[str, str]]
    notes: Sequence[str]


def legend(game: ClanGame, key: Key, width: Number) -> Canvas:
    """The key of a picture; the mark of reconstructions is explained where there are any."""
    canvas = panel(width, "Legend")
    pen = Pen(canvas, PAD, 50)
    for word, meaning in key.words.items():
        if word in ICONS:
            room_for(pen, width_of(meaning, 12) + 40, width)
            pen.icon(word)
            pen.word(meaning)
            pen.x += 14
    for fill, meaning in key.grounds:
        room_for(pen, width_of(meaning, 12) + 52, width)
        canvas.rect(pen.x, pen.y - 12, 24, 16, rx=3, fill=fill, stroke=EDGE)
        pen.x += 30
        pen.word(meaning)
        pen.x += 14
    explained = [EXPLAINED] if game.ruleset.reconstructed() else []
    for note in (*key.notes, *explained):
        room_for(pen, width_of(note, 12), width)
        pen.word(note)
        pen.x += 14
    canvas.height = pen.y + 18
    return canvas


def room_for(pen: Pen, needed: Number, width: Number) -> None:
    """Go to the next line, if this one has no room for something so wide."""
    if pen.x + needed > width - PAD:
        pen.x, pen.y = PAD, pen.y + 24
