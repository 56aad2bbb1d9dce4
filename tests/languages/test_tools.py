"""The check for what other languages need: it installs as root, and else names what is missing."""

import pytest

from tests.languages import tools


def test_what_is_missing_is_named_and_nothing_is_skipped(monkeypatch):
    monkeypatch.setattr(tools, "works", lambda command: command[0] != "protoc")
    monkeypatch.setattr(tools.os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit) as end:
        tools.main()
    assert end.value.code == (
        "missing: protobuf-compiler (Debian: apt-get install protobuf-compiler)"
    )


def test_root_installs_what_is_missing_and_looks_again(monkeypatch):
    installed = []
    monkeypatch.setattr(tools, "works", lambda command: command[0] != "protoc" or installed)
    monkeypatch.setattr(tools, "install", installed.extend)
    monkeypatch.setattr(tools.os, "geteuid", lambda: 0)
    monkeypatch.setattr(tools.shutil, "which", lambda name: f"/usr/bin/{name}")
    tools.main()
    assert installed == ["protobuf-compiler"]


def test_a_command_that_is_not_there_does_not_work():
    assert tools.works(("true",))
    assert not tools.works(("false",))
    assert not tools.works(("no-such-command-anywhere",))
