"""The notebook runs from top to bottom, and its cells show what their texts promise."""

import ast
import json

from tests.docs.page_shell import ROOT

CELLS = json.loads((ROOT / "docs" / "first-games.ipynb").read_text(encoding="utf-8"))["cells"]


def run(cells):
    """Run code cells as a notebook does; what each shows, by its id."""
    names, shown = {}, {}
    for cell in cells:
        tree = ast.parse("".join(cell["source"]))
        last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, cell["id"], "exec"), names)
        if last is not None:
            shown[cell["id"]] = eval(compile(ast.Expression(last.value), cell["id"], "eval"), names)
    return shown


def test_the_notebook_runs_and_draws():
    shown = run(cell for cell in CELLS if cell["cell_type"] == "code")
    scores, ranking = shown["game"]
    assert scores[0] > scores[1]
    assert ranking == [1, 2]
    for drawing in (shown["end"], shown["middle"]):
        assert drawing._repr_svg_().startswith("<svg")
    assert [sum(each.values()) for each in shown["breakdown"]] == scores
    assert len(shown["futures"]) == 2


def test_the_notebook_is_kept_without_outputs():
    for cell in CELLS:
        assert not cell.get("outputs")
        assert cell.get("execution_count") is None
