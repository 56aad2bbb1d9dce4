"""A position as text for a terminal and as SVG for a page or a notebook.

>>> from himeji import render, rules
>>> game = rules.new_game("base", seats=2, seed=7)
>>> page = render.text(game)
>>> picture = render.svg(game)

In a notebook, `render.Drawing(game)` shows the picture; after `%load_ext himeji.render` every game
does by itself. The rules know nothing of drawings.
"""

from himeji.render.drawing import FAMILIES, Drawing, Family, load_ipython_extension, svg, text
from himeji.render.marks import marks, place_of

__all__ = [
    "FAMILIES",
    "Drawing",
    "Family",
    "load_ipython_extension",
    "marks",
    "place_of",
    "svg",
    "text",
]
