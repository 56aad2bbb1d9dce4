"""The page docs/protocol.md against the contract: its examples, tables and sums are true."""

import base64
import hashlib
import hmac
import json
import re
from pathlib import Path
from typing import Any

import pytest
from google.protobuf import descriptor_pool, json_format, message_factory
from google.protobuf.message import Message
from himeji.rules.chance import Keyed
from himeji.v1 import (
    account_service_pb2,
    admin_service_pb2,
    errors_pb2,
    game_service_pb2,
    ladder_service_pb2,
    play_service_pb2,
    rules_service_pb2,
)

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/protocol.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"^```json (himeji\.v1\.\w+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
SERVICES = [
    service
    for module in (
        account_service_pb2,
        admin_service_pb2,
        game_service_pb2,
        ladder_service_pb2,
        play_service_pb2,
        rules_service_pb2,
    )
    for service in module.DESCRIPTOR.services_by_name.values()
]


def parsed(kind: str, text: str) -> Message:
    found = descriptor_pool.Default().FindMessageTypeByName(kind)
    message: Message = message_factory.GetMessageClass(found)()
    return json_format.Parse(text, message)


def example(member: str) -> dict[str, Any]:
    found = [json.loads(text) for _, text in EXAMPLES if member in json.loads(text)]
    assert found, member
    content: dict[str, Any] = found[0][member]
    return content


@pytest.mark.parametrize(("kind", "text"), EXAMPLES)
def test_every_example_is_a_message_of_the_contract(kind: str, text: str) -> None:
    message = parsed(kind, text)
    assert message.ByteSize() > 0


def test_every_block_of_json_is_an_example_with_its_type() -> None:
    assert PAGE.count("```json") == len(EXAMPLES) > 0


@pytest.mark.parametrize("kind", ["ClientMessage", "ServerMessage"])
def test_the_page_shows_every_message_of_the_stream(kind: str) -> None:
    shown = {
        parsed(name, text).WhichOneof("body")
        for name, text in EXAMPLES
        if name == f"himeji.v1.{kind}"
    }
    members = getattr(play_service_pb2, kind).DESCRIPTOR.oneofs_by_name["body"].fields
    # Resign has nothing to show but a game id.
    assert shown == {field.name for field in members} - {"resign"}


@pytest.mark.parametrize("service", SERVICES, ids=lambda service: str(service.name))
def test_every_rpc_is_on_the_page(service: Any) -> None:
    assert f"{service.name}" in PAGE
    for method in service.methods:
        assert re.search(rf"[`./]{method.name}`", PAGE), method.full_name


def test_every_error_reason_stands_in_the_row_of_its_status() -> None:
    source = (ROOT / "proto/himeji/v1/errors.proto").read_text(encoding="utf-8")
    blocks = re.findall(r"((?:^ *//.*\n)+)^ *ERROR_REASON_(\w+) =", source, re.MULTILINE)
    contract = {
        name: status[1]
        for text, name in blocks
        if (status := re.search(r"Status: ([A-Z_]+)", text))
    }
    table = PAGE.partition("| status | reasons |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", table, re.MULTILINE)
    page = {reason: status for status, cell in rows for reason in re.findall(r"`(\w+)`", cell)}
    assert page == contract
    assert len(contract) == len(errors_pb2.ErrorReason.keys()) - 1


def test_every_end_of_a_stream_stands_in_the_table_with_its_status() -> None:
    source = (ROOT / "proto/himeji/v1/stream.proto").read_text(encoding="utf-8")
    blocks = re.findall(r"((?:^ *//.*\n)+)^ *(STREAM_END_KIND_\w+) =", source, re.MULTILINE)
    ends = {name: re.sub(r"\s*//\s*", " ", text) for text, name in blocks}
    del ends["STREAM_END_KIND_UNSPECIFIED"]
    rows = dict(re.findall(r"^\| `(STREAM_END_KIND_\w+)` \| (.*?) \|", PAGE, re.MULTILINE))
    assert rows.keys() == ends.keys()
    assert rows.pop("STREAM_END_KIND_REFUSED") == "that of `reason`"
    for name, status in rows.items():
        assert f"Status {status.strip('`')}." in ends[name], name


def test_the_chance_of_the_example_can_be_verified_as_the_page_says() -> None:
    proof = {
        name: base64.b64decode(value)
        for name, value in example("gameOver")["chance"].items()
        if isinstance(value, str)
    }
    entropy = [base64.b64decode(text) for text in example("gameOver")["chance"]["seatEntropy"]]
    assert (
        base64.b64decode(example("seated")["game"]["chance"]["commitment"]) == proof["commitment"]
    )
    assert base64.b64decode(example("ready")["entropy"]) == entropy[example("seated")["seat"]]
    assert hashlib.sha256(proof["secret"]).digest() == proof["commitment"]
    text = b"himeji/v1/seat-entropy" + b"".join(bytes([len(part)]) + part for part in entropy)
    assert hmac.digest(proof["secret"], text, "sha256") == proof["key"]
    slot = "castle/round-1/die/coral/1"
    assert hmac.digest(proof["key"], slot.encode(), "sha256").hex() in PAGE
    assert f"the six-sided die shows {Keyed(proof['key']).roll(slot, 6)}." in PAGE


def test_the_breakdown_of_the_example_adds_up() -> None:
    for seat in example("gameOver")["result"]["seats"]:
        assert sum(line["points"] for line in seat["breakdown"]) == seat["score"]
