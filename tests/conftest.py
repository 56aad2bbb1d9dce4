"""What every test shares: options, the same environment everywhere, a guard against old builds."""

import os
import signal
import tempfile
import time
from pathlib import Path

import himeji
import pytest
from hypothesis import HealthCheck, settings

from tests import environment

ENGINE = Path(__file__).parents[1] / "engine"
GAMES = 20 if himeji.ENGINE_FORM == "compiled" else 6
"""Examples of each law in an ordinary run, fewer where each takes longer (see `--games`)."""
POSITIONS = 108 if himeji.ENGINE_FORM == "compiled" else 27
"""Positions that are changed by hand in an ordinary run (see `--positions`)."""
MEMORY = Path("/dev/shm")
LEAST_MEMORY = 4 << 30
NOTE = "note"  # a test's remark for the summary: record_property(NOTE, "...")


def pytest_addoption(parser):
    group = parser.getgroup("himeji")
    group.addoption(
        "--update-golden", action="store_true", help="write the golden files anew, then read them"
    )
    group.addoption(
        "--games", type=int, help=f"examples of each law, chosen afresh (ordinarily {GAMES}, fixed)"
    )
    group.addoption(
        "--positions",
        type=int,
        default=POSITIONS,
        help=f"positions changed by hand, of all rulesets together (ordinarily {POSITIONS})",
    )
    group.addoption(
        "--cluster",
        action="store_true",
        help="let the server's tests keep everything in a Redis Cluster of six nodes",
    )


def pytest_configure(config):
    keep_files_in_memory()
    games = config.getoption("--games")
    # An ordinary run plays the same games everywhere; a long one is there to find new ones.
    settings.register_profile(
        "himeji",
        max_examples=games or GAMES,
        derandomize=games is None,
        database=None,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("himeji")


def keep_files_in_memory():
    """Have temporary files where no disk is waited for, if there is room, unless TMPDIR is set.

    A Redis that loses nothing writes through to its disk at every answer. What is killed in these
    tests are processes, never the machine, so memory shows the same; and it is never busy.
    """
    if "TMPDIR" in os.environ or not MEMORY.is_dir():
        return
    facts = os.statvfs(MEMORY)
    if facts.f_bavail * facts.f_frsize > LEAST_MEMORY and not facts.f_flag & os.ST_NOEXEC:
        os.environ["TMPDIR"] = str(MEMORY)
        tempfile.tempdir = None  # what was found before


def pytest_report_header():
    return f"himeji {himeji.__version__}, rules: {himeji.ENGINE_FORM}"


def pytest_sessionstart():
    stale = stale_builds()
    if stale and os.environ.get("HIMEJI_PURE") != "1":
        pytest.exit(
            f"{stale[0].relative_to(ENGINE.parent)} is older than its source: run `make build`, "
            "or set HIMEJI_PURE=1 to test the sources alone",
            returncode=4,
        )


def pytest_terminal_summary(terminalreporter):
    for reports in terminalreporter.stats.values():
        for report in reports:
            for name, text in getattr(report, "user_properties", ()):
                if name == NOTE and report.when == "call":
                    terminalreporter.write_line(f"note: {text}")


def compiled_modules():
    """The compiled modules that lie beside their sources."""
    return sorted(ENGINE.glob("himeji/rules/**/*.so"))


def stale_builds():
    """Compiled modules whose source is newer, or gone."""
    return [module for module in compiled_modules() if _is_stale(module)]


def _is_stale(module):
    source = module.with_name(f"{module.name.split('.')[0]}.py")
    return not source.exists() or source.stat().st_mtime > module.stat().st_mtime


@pytest.fixture(scope="session", autouse=True)
def _clean_environment():
    """Forget the environment but for a few variables, for the tests and what they start.

    A shell that starts tests in the background lets them, and all that they start, ignore Ctrl-C.
    """
    before = dict(os.environ)
    for name in before.keys() - environment.matching(before, environment.A_TEST).keys():
        del os.environ[name]
    time.tzset()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return before


@pytest.fixture(scope="session")
def package_clients(_clean_environment):
    """The variables by which package clients find their registries."""
    return environment.matching(_clean_environment, environment.PACKAGE_CLIENTS)


@pytest.fixture
def update_golden(request):
    """Whether golden files are to be written anew."""
    return request.config.getoption("--update-golden")


@pytest.fixture(scope="session")
def shared_arena(tmp_path_factory):
    """The arena of all tests that need one and leave it as it is."""
    from tests.server.conftest import open_arena  # noqa: PLC0415 - tests of the rules need no server

    options = ("--house", "random,greedy", "--bots-per-owner", "1000")
    with open_arena(tmp_path_factory.mktemp("arena"), *options) as arena:
        yield arena


@pytest.fixture
def build():
    """The compiled modules beside the sources, and those of them that are stale."""
    return compiled_modules(), stale_builds()
