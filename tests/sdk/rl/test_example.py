"""The example that learns: short enough to read, and it does learn."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[3] / "docs" / "examples" / "train.py"


def wins_after(games: int) -> int:
    run = subprocess.run(
        [sys.executable, str(EXAMPLE), str(games)],
        capture_output=True,
        text=True,
        check=True,
        # Its numbers are small, and threads that wait for each other are slow on a busy machine.
        env=os.environ | {"OPENBLAS_NUM_THREADS": "1"},
    )
    told = re.fullmatch(
        r"after (\d+) games it won (\d+) of 200 against the random bot\n", run.stdout
    )
    assert told is not None, run.stdout
    assert int(told[1]) == games
    return int(told[2])


@pytest.mark.long
@pytest.mark.timeout(900)
def test_it_loses_before_and_wins_after_some_games_of_training() -> None:
    assert wins_after(0) < 100
    assert wins_after(200) >= 130


def test_it_has_thirty_lines_of_code() -> None:
    text = EXAMPLE.read_text(encoding="utf-8")
    docstrings = {
        line
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node)
        for line in range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1)
    }
    lines = [
        number
        for number, line in enumerate(text.splitlines(), start=1)
        if line.strip() and number not in docstrings
    ]
    assert len(lines) <= 30
