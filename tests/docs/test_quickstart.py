"""The quickstart, run in a new copy of the sources with a new environment."""

import subprocess
import venv

import pytest

from tests.docs.page_shell import ROOT, PageShell, blocks

PAGE = ROOT / "docs" / "quickstart.md"
COMMANDS = [text for language, text in blocks(PAGE) if language == "sh"]


@pytest.fixture
def newcomer(tmp_path, short_folder, package_clients):
    """A shell with a copy of the sources, Python, and nothing else."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    clone = tmp_path / "himeji"
    clone.mkdir()
    for name in filter(None, listed.stdout.split("\0")):
        source = ROOT / name
        if source.is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            (clone / name).write_bytes(source.read_bytes())
    venv.create(tmp_path / "env", with_pip=True)
    # Compiling the rules is tested elsewhere, and would take a minute.
    quick = {"HIMEJI_PURE": "1", "PIP_CONSTRAINT": str(clone / "constraints.txt")}
    quick |= package_clients
    return PageShell(clone, tmp_path / "env" / "bin", TMPDIR=str(short_folder), **quick)


class OpenArena:
    """`himeji serve` in a second terminal, at any free port."""

    def __init__(self, shell):
        self._process = subprocess.Popen(
            ["sh", "-c", "exec himeji serve"],
            cwd=shell.folder,
            env=shell.env | {"HIMEJI_PORT": "0"},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def __enter__(self):
        for line in self._process.stdout:
            if line.startswith("  address"):
                return line.split()[1]
        raise AssertionError("the arena did not open")

    def __exit__(self, *_error):
        self._process.terminate()
        self._process.communicate(timeout=120)


@pytest.mark.long
@pytest.mark.timeout(900)
def test_four_commands_lead_from_a_clone_to_a_game_online(newcomer):
    install, new, play, online = COMMANDS
    newcomer.run("sh", install)
    assert newcomer.run("sh", new).startswith("wrote mybot.py")
    assert "│ mybot" in newcomer.run("sh", play)
    with OpenArena(newcomer) as address:
        newcomer.env["HIMEJI_TARGET"] = address
        assert "1 game over, first in " in newcomer.run("sh", online)
    assert newcomer.run("sh", "himeji doctor mybot --games 1").endswith("is fit for an arena\n")
    where = newcomer.run("sh", "python -c 'import himeji_sdk; print(himeji_sdk.__file__)'")
    assert str(newcomer.folder) not in where, "it is the installed package that was tried"
