"""Plots as SVG without inline styles, because the page's style sheet colours them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from himeji.render.canvas import Value, element, escaped
from markupsafe import Markup

from himeji_server.web import schemas

SIGMAS: Final = 2.0
"""Half the width of an interval, in standard deviations: about 95 % certainty."""

WIDTH: Final = 720
HEIGHT: Final = 220
_LEFT: Final = 44
_BOTTOM: Final = 24
_INTERVAL_WIDTH: Final = 260
_STEPS: Final = (1, 2, 5)


class Scale(NamedTuple):
    """A linear scale from values to coordinates."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The coordinate of a value."""
        span = self.high - self.low or 1.0
        return self.start + (value - self.low) / span * (self.end - self.start)

    def ticks(self, most: int = 5) -> list[float]:
        """Round values within the scale, at most `most` of them."""
        span, step, number = self.high - self.low or 1.0, 1.0, 0
        while span / step > most:
            number += 1
            step = _STEPS[number % 3] * 10.0 ** (number // 3)
        first = int(self.low // step) + 1
        return [
            n * step for n in range(first, first + most + 1) if self.low <= n * step <= self.high
        ]


def _svg(content: Iterable[str], label: str, width: float, height: float, name: str) -> Markup:
    inner = element("title", escaped(label)) + "".join(content)
    drawn = element(
        "svg",
        inner,
        class_=f"plot {name}",
        viewBox=f"0 0 {width:g} {height:g}",
        role="img",
        aria_label=label,
    )
    return Markup(drawn)  # noqa: S704 - every text above went through `escaped`


def _line(points: Sequence[tuple[float, float]], name: str, **more: Value | None) -> str:
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return element("polyline", points=path, class_=name, **more)


def rating_scale(standings: Iterable[schemas.Standing]) -> Scale:
    """The common scale of all intervals in the standings."""
    ends = [end for each in standings for end in _interval(each["rating"])]
    return Scale(min(ends, default=0.0), max(ends, default=50.0), 8, _INTERVAL_WIDTH - 8)


def _interval(rating: schemas.RatingSummary) -> tuple[float, float]:
    reach = SIGMAS * rating["uncertainty"]
    return rating["mean"] - reach, rating["mean"] + reach


def interval(rating: schemas.RatingSummary, scale: Scale) -> Markup:
    """A rating as a dot at its mean, with its uncertainty as a bar."""
    low, high = _interval(rating)
    label = f"{rating['mean']:.1f}, with 95 % certainty between {low:.1f} and {high:.1f}"
    parts = [
        element("line", x1=scale.start, x2=scale.end, y1=12, y2=12, class_="rail"),
        element("line", x1=scale(low), x2=scale(high), y1=12, y2=12, class_="reach"),
        element("circle", cx=scale(rating["mean"]), cy=12, r=5, class_="dot"),
    ]
    return _svg(parts, label, _INTERVAL_WIDTH, 24, "interval")


def rating_curve(games: Sequence[schemas.RatedGame], ladder: str) -> Markup:
    """The mean of a bot on a ladder, game by game from left to right, with its uncertainty."""
    rated = [game["after"] for game in reversed(games) if game["ladder"] == ladder]
    first = [game["before"] for game in games if game["ladder"] == ladder][-1:]
    ratings = [*first, *rated]
    ends = [end for each in ratings for end in _interval(each)]
    across = Scale(0, max(len(ratings) - 1, 1), _LEFT, WIDTH - 12)
    up = Scale(min(ends, default=0.0), max(ends, default=1.0), HEIGHT - _BOTTOM, 10)
    upper = [(across(n), up(_interval(each)[1])) for n, each in enumerate(ratings)]
    lower = [(across(n), up(_interval(each)[0])) for n, each in enumerate(ratings)]
    band = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*upper, *reversed(lower)])
    parts = [
        *_grid(across, up, "games"),
        element("polygon", points=band, class_="band"),
        _line([(across(n), up(each["mean"])) for n, each in enumerate(ratings)], "curve"),
    ]
    last = ratings[-1]["mean"] if ratings else 0.0
    label = f"Mean on {ladder} over the last {len(rated)} rated games, now {last:.1f}"
    return _svg(parts, label, WIDTH, HEIGHT, "curves")


def score_curve(replay: schemas.Replay) -> Markup:
    """The points of every clan over the game, a line each, with a cursor for the moment shown."""
    moments, clans = replay["moments"], replay["clans"]
    scores = [score for moment in moments for score in moment["scores"]]
    across = Scale(0, max(len(moments) - 1, 1), _LEFT, WIDTH - 12)
    up = Scale(min([0, *scores]), max([1, *scores]), HEIGHT - _BOTTOM, 10)
    parts = [*_grid(across, up, "actions")]
    for clan in range(len(clans)):
        points = [(across(m["number"]), up(m["scores"][clan])) for m in moments]
        parts.append(_line(points, f"curve clan-{clan}"))
        x, y = points[-1] if points else (0.0, 0.0)
        parts.append(
            element("text", str(clan), x=x - 4, y=max(y - 6, 14), class_="mark", text_anchor="end")
        )
    parts.append(element("line", x1=_LEFT, x2=_LEFT, y1=6, y2=HEIGHT - _BOTTOM, class_="cursor"))
    said = ", ".join(
        f"{name} {moments[-1]['scores'][clan] if moments else 0}" for clan, name in enumerate(clans)
    )
    return _svg(parts, f"Points over the game; at the end: {said}", WIDTH, HEIGHT, "curves")


def _grid(across: Scale, up: Scale, unit: str) -> list[str]:
    floor = up.start
    lines = [element("line", x1=_LEFT, x2=WIDTH - 12, y1=floor, y2=floor, class_="axis")]
    for value in up.ticks():
        y = up(value)
        lines.append(element("line", x1=_LEFT, x2=WIDTH - 12, y1=y, y2=y, class_="grid"))
        lines.append(
            element("text", f"{value:g}", x=_LEFT - 6, y=y + 4, text_anchor="end", class_="tick")
        )
    lines += [
        element("text", f"{n:g}", x=across(n), y=floor + 16, text_anchor="middle", class_="tick")
        for n in across.ticks(8)
    ]
    lines.append(element("text", unit, x=WIDTH - 12, y=floor - 6, text_anchor="end", class_="tick"))
    return lines
