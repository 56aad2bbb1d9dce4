"""`himeji admin` against a real arena."""

import json
import secrets

import pytest
from click.testing import CliRunner
from himeji.rules.errors import Refused, UnknownAccount
from himeji_sdk import AdminClient, Client
from himeji_sdk._cli import main
from himeji_sdk._client.service_client import AccountClient


@pytest.fixture
def himeji(endpoint):
    """Calls the command as an administrator; its exit code and what it printed."""

    def call(*arguments):
        options = ("--target", endpoint.target, "--token-file", str(endpoint.token_file))
        result = CliRunner().invoke(main, ["admin", "owner", "delete", *arguments, *options])
        return result.exit_code, result.output

    return call


@pytest.fixture
def accounts(endpoint):
    with AccountClient(endpoint.target, endpoint.token) as client:
        yield client


@pytest.fixture
def new_owner(accounts):
    """Creates an owner that no other test has; its name and secret."""

    def create():
        name = f"o{secrets.token_hex(6)}"
        return name, accounts.call("CreateOwner", owner=name).secret

    return create


def names(accounts):
    return {each.name for each in accounts.pages("ListOwners", "owners")}


def test_owners_are_deleted_by_name(himeji, accounts, new_owner):
    (one, _), (two, _), (stays, _) = new_owner(), new_owner(), new_owner()
    code, printed = himeji(one, two, "--explanation", "spam")
    assert (code, printed) == (0, f"deleted 2: {one}, {two}\n")
    assert not {one, two} & names(accounts)
    assert stays in names(accounts)


def test_an_owner_that_played_stays_and_the_exit_code_says_so(
    himeji, accounts, new_owner, endpoint
):
    (played, secret), (idle, _) = new_owner(), new_owner()
    with Client(endpoint.target, secret) as client:
        client.create_game("base", seats=2)
    code, printed = himeji(played, idle, "local", "--json")
    found = json.loads(printed)
    assert (code, found["deleted"]) == (1, [idle])
    assert found["kept"].keys() == {played, "local"}
    assert "has played" in found["kept"][played]
    assert played in names(accounts)


def test_all_that_never_played_are_deleted_if_they_are_old_enough(
    himeji, accounts, new_owner, endpoint
):
    (played, secret), (idle, _) = new_owner(), new_owner()
    with Client(endpoint.target, secret) as client:
        client.create_game("base", seats=2)
    code, printed = himeji("--never-played", "--older-than", "7d", "--json")
    assert (code, json.loads(printed)["deleted"]) == (0, [])
    code, printed = himeji("--never-played", "--json")
    assert code == 0
    assert idle in json.loads(printed)["deleted"]
    assert {played, "house", "local"} <= names(accounts)
    assert idle not in names(accounts)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("ada", "--never-played"),
        ("ada", "--older-than", "7d"),
        ("--never-played", "--older-than", "7"),
    ],
)
def test_a_choice_that_is_not_clear_deletes_nobody(himeji, accounts, arguments):
    before = names(accounts)
    code, printed = himeji(*arguments)
    assert code == 2, printed
    assert names(accounts) == before


def test_the_client_deletes_owners(endpoint, accounts, new_owner):
    name, _ = new_owner()
    with AdminClient(endpoint.target, endpoint.token) as client:
        client.delete_owner(name, "spam")
        with pytest.raises(UnknownAccount):
            client.delete_owner(name, "spam")
        with pytest.raises(Refused):
            client.delete_owner("house", "spam")
        assert (
            client.call("ListAuditEntries").entries[0].message == f"deleted the owner {name}: spam"
        )
    assert name not in names(accounts)
