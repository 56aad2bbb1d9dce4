"""The check for Debian packages: it installs as root, and otherwise names what is missing."""

import pytest

from tests.programs import debian_packages


def test_what_is_missing_is_named_and_nothing_is_skipped(monkeypatch):
    monkeypatch.setattr(debian_packages, "works", lambda command: command[0] != "protoc")
    monkeypatch.setattr(debian_packages.os, "geteuid", lambda: 1000)
    with pytest.raises(SystemExit) as end:
        debian_packages.ensure("cpp")
    assert end.value.code == (
        "missing: protobuf-compiler (Debian: apt-get install protobuf-compiler)"
    )


def test_root_installs_what_is_missing_and_looks_again(monkeypatch):
    installed = []
    monkeypatch.setattr(
        debian_packages, "works", lambda command: command[0] != "protoc" or installed
    )
    monkeypatch.setattr(debian_packages, "install", installed.extend)
    monkeypatch.setattr(debian_packages.os, "geteuid", lambda: 0)
    monkeypatch.setattr(debian_packages.shutil, "which", lambda name: f"/usr/bin/{name}")
    debian_packages.ensure("cpp")
    assert installed == ["protobuf-compiler"]


def test_a_command_that_is_not_there_does_not_work():
    assert debian_packages.works(("true",))
    assert not debian_packages.works(("false",))
    assert not debian_packages.works(("no-such-command-anywhere",))
