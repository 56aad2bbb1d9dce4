"""What the pages of all families are made of: title, question, marks of seats, goods, scores."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from himeji.render.palette import CLANS
from himeji.render.phrases import EXPLAINED
from himeji.render.sheet import WIDTH, Block, Line, join, printed, table, wrap
from himeji.render.situation import answers, asked, foremost, goods_of, people, who
from himeji.rules.clans import ClanGame
from himeji.rules.constants import GOOD_NAMES, UNLIMITED

Group = tuple[int, int]
"""Members or seals of one clan in one place: seat, how many."""
INNER: Final = WIDTH - 12
NOBODY: Final = "\N{EN DASH}"
FULL_HEADS: Final = 7
TIMES: Final = "\N{MULTIPLICATION SIGN}"


def clan(seat: int) -> Line:
    """The mark and the number of a seat."""
    return Line(f"{CLANS[seat].mark}{seat}", f"clan-{seat}")


def clans(groups: Sequence[Group]) -> Line:
    """Members by clan, a number after those who are several."""
    if not groups:
        return Line(NOBODY, "dim")
    return join([clan(seat) + (f"{TIMES}{count}" if count > 1 else "") for seat, count in groups])


def heading(title: str, remark: str = "") -> Block:
    """The first line of a section."""
    return [Line(title, "title") + (Line(f"  {remark}", "dim") if remark else Line())]


def title(game: ClanGame, name: str, occasion: str) -> Block:
    """What is played, and where in it we are."""
    left = Line(name.upper(), "title") + f"  {game.ruleset.name}, {people(game)}"
    right = Line(occasion)
    return [left.fit(WIDTH - right.width) + right, Line("─" * WIDTH, "dim")]


def question(game: ClanGame) -> Block:
    """The question and its answers, or the result."""
    label = Line("Result      " if game.over else "Now         ", "title")
    lines = [label + clan(foremost(game)) + " " + Line(asked(game), "title")]
    for number, line in enumerate(wrap([Line(answer) for answer in answers(game)], INNER)):
        lines.append(Line("Answers     " if number == 0 else " " * 12, "title") + line)
    return lines


def goods(game: ClanGame, seat: int) -> Line:
    """What a clan holds, with the caps."""
    held = []
    for good in goods_of(game, seat):
        cap = game.caps[good]
        limit = f"/{cap}" if cap < UNLIMITED else ""
        word = GOOD_NAMES[good].replace("vp", "VP")
        held.append(Line(f"{word} ") + Line(f"{game.has(seat, good)}{limit}", "title"))
    return join(held, "   ")


def scores(game: ClanGame) -> Block:
    """Points by scoring line, as they would count if the game ended now."""
    columns = [line.name for line in game.ruleset.scoring]
    # With many lines their first words must do, to keep the table on the page.
    heads = columns if len(columns) <= FULL_HEADS else [column.split()[0] for column in columns]
    rows = [
        [
            Line("SCORES" if game.over else "SCORES SO FAR", "title"),
            *map(Line, heads),
            Line("total", "title"),
        ]
    ]
    breakdown, totals, ranks = game.breakdown(), game.scores(), game.ranking()
    for seat in range(game.clans):
        gained = [Line(str(breakdown[seat][column])) for column in columns]
        total = Line(str(totals[seat]), "title") + f"  {ranks[seat]}."
        rows.append([clan(seat) + f" {who(game, seat)}", *gained, total])
    return table(rows, gap=1)


def legend_lines(game: ClanGame, words: Sequence[Line]) -> Block:
    """What the marks mean, and that something is a reconstruction."""
    notes = list(words)
    if game.ruleset.reconstructed():
        notes.append(Line(EXPLAINED))
    return [Line("─" * WIDTH, "dim"), *wrap(notes, WIDTH)]


def page(sections: Iterable[Block], *, colour: bool) -> str:
    """The sections below one another, a blank line between them; an empty one is left out."""
    lines: Block = []
    for block in sections:
        lines += [Line(), *block] if lines and block else block
    return printed(lines, colour=colour)
