"""`make bench`: measure the engine, compiled and pure, and the arena; print tables or write JSON.

Figures are medians with their spread, compared with the budgets of the design and with each other.
They are reported, never asserted, because machines differ.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tests.programs.bench import requests, server

ROOT = Path(__file__).parents[3]
# (figure, form): the budget and the goal for 2 seats; more is better for rates, less for times.
BUDGETS = {
    ("random play", "compiled"): (100_000, 200_000),
    ("random play", "pure"): (20_000, None),
    ("playout", "compiled"): (200_000, 400_000),
    ("clone", "compiled"): (10, 5),
}
BUDGET_SETUP = "base, 2 seats"
DUEL_SETUP = "duel, 2 seats"  # must have half the speed of the base game
SERVER_BUDGETS = {
    "ratio to the echo": "at least 0.5",
    "server memory per idle bot, kB": "at most 64",
    "Redis memory per live game, kB": "at most 4",
}


def measure_engine(form):
    """The figures of one form, measured in a process of its own; None if there is no such form."""
    environment = {key: value for key, value in os.environ.items() if key != "HIMEJI_PURE"}
    if form == "pure":
        environment["HIMEJI_PURE"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", "tests.programs.bench.engine", form],
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def is_rate(unit):
    return unit.endswith("/s")


def number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.2f}"


def cell(figure):
    spread = (figure["high"] - figure["low"]) / figure["median"] / 2 * 100
    return f"{number(figure['median'])} [dim]±{spread:.0f}%[/dim]"


def ratio(compiled, pure):
    """How many times better the compiled form is."""
    quick, slow = compiled["median"], pure["median"]
    return quick / slow if is_rate(compiled["unit"]) else slow / quick


def against_budget(figure, budget):
    """How well a figure keeps its budget: 1 or more if it does."""
    return figure["median"] / budget if is_rate(figure["unit"]) else budget / figure["median"]


def compare(forms):
    """Every ratio of the run: compiled to pure, and each form to its budget and goal."""
    compiled, pure = forms.get("compiled"), forms["pure"]
    timed = [name for name in pure[BUDGET_SETUP] if name not in ("state", "game length")]
    speedups = {
        setup: {name: ratio(compiled[setup][name], pure[setup][name]) for name in timed}
        for setup in (pure if compiled else ())
    }
    budgets = [
        {
            "what": name,
            "form": form,
            "measured": forms[form][BUDGET_SETUP][name]["median"],
            "budget": budget,
            "of budget": against_budget(forms[form][BUDGET_SETUP][name], budget),
            "goal": goal,
            "of goal": goal and against_budget(forms[form][BUDGET_SETUP][name], goal),
        }
        for (name, form), (budget, goal) in BUDGETS.items()
        if form in forms
    ]
    families = {
        form: found[DUEL_SETUP]["random play"]["median"]
        / found[BUDGET_SETUP]["random play"]["median"]
        for form, found in forms.items()
    }
    return {"compiled to pure": speedups, "budgets": budgets, "duel to base": families}


def print_figures(console, forms, ratios):
    for setup, figures in forms["pure"].items():
        table = Table(title=f"{setup}, one core, without setting up games", title_justify="left")
        table.add_column("what")
        table.add_column("unit", style="dim")
        for form in forms:
            table.add_column(form, justify="right")
        table.add_column("ratio", justify="right")
        for name, figure in figures.items():
            factor = ratios["compiled to pure"].get(setup, {}).get(name)
            cells = [cell(forms[form][setup][name]) for form in forms]
            table.add_row(name, figure["unit"], *cells, f"{factor:.1f} x" if factor else "")
        console.print(table)


def print_budgets(console, ratios):
    table = Table(title=f"budgets, {BUDGET_SETUP} (reported, not asserted)", title_justify="left")
    for heading in ("what", "form", "measured", "budget", "of budget", "goal", "of goal"):
        table.add_column(heading, justify="left" if heading in ("what", "form") else "right")
    for row in ratios["budgets"]:
        kept = row["of budget"] >= 1
        table.add_row(
            row["what"],
            row["form"],
            number(row["measured"]),
            number(row["budget"]),
            f"[{'green' if kept else 'red'}]{row['of budget']:.2f}[/]",
            number(row["goal"]) if row["goal"] else "",
            f"{row['of goal']:.2f}" if row["goal"] else "",
        )
    console.print(table)
    for form, factor in ratios["duel to base"].items():
        console.print(f"random play of duel to base, {form}: {factor:.2f} (budget: at least 0.5)")


def print_server(console, figures):
    table = Table(title="the arena over its stream, one process", title_justify="left")
    table.add_column("what")
    table.add_column("measured", justify="right")
    table.add_column("budget", justify="right")
    for name, value in figures.items():
        table.add_row(name, number(value), SERVER_BUDGETS.get(name, ""))
    console.print(table)


def print_requests(console, figures):
    titles = {
        "hold_ms": "by the longest hold of the event loop (goal: at most 20 ms)",
        "cpu_ms": "by processor time of the server process",
    }
    for figure, title in titles.items():
        table = Table(title=f"the ten dearest requests, {title}", title_justify="left")
        table.add_column("request")
        for heading in ("hold, ms", "processor, ms", "status"):
            table.add_column(heading, justify="right")
        for name, cost in requests.dearest(figures, figure):
            table.add_row(name, number(cost["hold_ms"]), number(cost["cpu_ms"]), cost["status"])
        console.print(table)


def main():
    options = argparse.ArgumentParser(prog="make bench ARGS=...", description=__doc__)
    options.add_argument("--json", type=Path, metavar="FILE", help="also write the figures as JSON")
    options.add_argument("part", nargs="?", choices=["requests"], help="measure only this part")
    given = options.parse_args()
    console = Console(width=100 if not sys.stdout.isatty() else None)
    if given.part:
        print_requests(console, requests.measure())
        return
    found = {form: measure_engine(form) for form in ("compiled", "pure")}
    forms = {form: figures for form, figures in found.items() if figures}
    ratios = compare(forms)
    print_figures(console, forms, ratios)
    print_budgets(console, ratios)
    if "compiled" not in forms:
        console.print(
            "The rules are not compiled here (`make build` compiles them): only pure was measured."
        )
    figures = server.measure()
    print_server(console, figures)
    dear = requests.measure()
    print_requests(console, dear)
    if given.json:
        report = {
            "python": platform.python_version(),
            "machine": platform.machine(),
            "processor": platform.processor(),
            "forms": forms,
            **ratios,
            "server": figures,
            "requests": dear,
        }
        given.json.write_text(json.dumps(report, indent=1, ensure_ascii=False), encoding="utf-8")


if __name__ == "__main__":
    main()
