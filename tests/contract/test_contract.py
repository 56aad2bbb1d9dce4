"""The contract as files: buf's opinion, the generated code, what each RPC and enum must have."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    FileDescriptor,
    MethodDescriptor,
)
from google.protobuf.message import Message
from himeji.rules import errors
from himeji.v1 import (
    account_service_pb2,
    admin_service_pb2,
    castle_pb2,
    duel_pb2,
    errors_pb2,
    game_pb2,
    game_service_pb2,
    ladder_service_pb2,
    play_service_pb2,
    position_pb2,
    rules_service_pb2,
    stream_pb2,
)

ROOT = Path(__file__).resolve().parents[2]
BUF = Path(sys.executable).parent / "buf"
GENERATE = ROOT / "proto" / "generate.py"
FILES: list[FileDescriptor] = [
    module.DESCRIPTOR
    for module in (
        account_service_pb2,
        admin_service_pb2,
        castle_pb2,
        duel_pb2,
        errors_pb2,
        game_pb2,
        game_service_pb2,
        ladder_service_pb2,
        play_service_pb2,
        position_pb2,
        rules_service_pb2,
        stream_pb2,
    )
]
METHODS: list[MethodDescriptor] = [
    method
    for file in FILES
    for service in file.services_by_name.values()
    for method in service.methods
]
MESSAGES: list[Descriptor] = [
    message for file in FILES for message in file.message_types_by_name.values()
]
ENUMS: list[EnumDescriptor] = [enum for file in FILES for enum in file.enum_types_by_name.values()]
REASONS: list[str] = [value.name for value in errors_pb2.ErrorReason.DESCRIPTOR.values]
# What other languages call the package. Released code is generated with these names.
OPTIONS = {
    "csharp_namespace": "Himeji.V1",
    "go_package": "himeji.example/go/himejiv1;himejiv1",
    "java_multiple_files": True,
    "java_package": "himeji.v1",
    "objc_class_prefix": "HMJ",
    "php_namespace": "Himeji\\V1",
    "ruby_package": "Himeji::V1",
    "swift_prefix": "Himeji",
}
# What makes a retry of these safe: the decision, and that resigning twice is the same as once.
SAFE_BY_THEMSELVES = ("SubmitActions", "Resign")
READING = ("Get", "List", "Watch", "WhoAmI", "NewPosition", "ApplyActions", "Play")
# GetStandings and GetHistory answer with a collection under a name people know.
PAGED = ("List", "GetStandings", "GetHistory")
KEYWORDS = """
    abstract alignas and as assert async auto await base bool break byte case catch chan char
    checked class concept const constructor continue decimal def default defer del delete delegate
    do double dynamic elif else end ensure enum event except explicit export extends extern
    fallthrough false final finally fixed float fn for foreach friend from func function global go
    goto if impl implements implicit import in init inline instanceof int interface internal is
    lambda let lock long loop map match module mut namespace native new nil none nonlocal not null
    object operator optional or out override package params pass private protected protocol
    prototype public pub raise range readonly ref register repeat require rescue retry return self
    short signed sizeof static strictfp string struct subscript super switch synchronized template
    then this throw throws trait transient true try type typedef typeof typename undef union
    unless unsafe unsigned until use using val var virtual void volatile when where while with
    yield
"""


def named(item: Descriptor | EnumDescriptor | MethodDescriptor | FieldDescriptor) -> str:
    return str(item.full_name)


def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, capture_output=True, text=True, check=False
    )


def error_classes(root: type[errors.HimejiError]) -> Iterator[type[errors.HimejiError]]:
    yield root
    for child in root.__subclasses__():
        # Subclasses elsewhere (in the SDK, in tests) may share a reason, but make no new ones.
        if child.__module__ == errors.__name__:
            yield from error_classes(child)


def reason_comments() -> dict[str, str]:
    source = (ROOT / "proto/himeji/v1/errors.proto").read_text(encoding="utf-8")
    found = re.findall(r"((?:^ *//.*\n)+)^ *ERROR_REASON_(\w+) = \d+;", source, re.MULTILINE)
    return {name: re.sub(r"\s*//\s*", " ", comment).strip() for comment, name in found}


def test_the_tests_look_at_every_file_of_the_contract() -> None:
    sources = {path.name for path in (ROOT / "proto/himeji/v1").iterdir()}
    assert {Path(file.name).name for file in FILES} == sources


def test_buf_finds_nothing_to_say_about_style_and_comments() -> None:
    result = run(BUF, "lint")
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def test_buf_would_format_nothing_differently() -> None:
    result = run(BUF, "format", "--diff", "--exit-code")
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def test_a_missing_comment_does_not_pass_the_lint(tmp_path: Path) -> None:
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    file = tmp_path / "proto/himeji/v1/position.proto"
    text = file.read_text(encoding="utf-8")
    file.write_text(re.sub(r" *//.*\n(?= *string name = 1;)", "", text), encoding="utf-8")
    result = subprocess.run(
        [str(BUF), "lint"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode != 0
    assert 'Field "name" should have a non-empty comment' in result.stdout


def test_the_committed_code_is_what_the_contract_generates() -> None:
    result = run(sys.executable, GENERATE, "--check")
    assert (result.returncode, result.stdout + result.stderr) == (0, "")


def test_the_freshness_check_names_stale_missing_and_superfluous_files(tmp_path: Path) -> None:
    package = tmp_path / "himeji/v1"
    shutil.copytree(ROOT / "engine/himeji/v1", package)
    (package / "game_pb2.pyi").unlink()
    (package / "chess_pb2.py").write_text("", encoding="utf-8")
    with (package / "errors_pb2.py").open("a", encoding="utf-8") as file:
        file.write("# edited by hand\n")
    result = run(sys.executable, GENERATE, "--check", tmp_path)
    assert result.returncode == 1
    assert result.stderr.splitlines()[:-1] == [
        "superfluous: himeji/v1/chess_pb2.py",
        "stale: himeji/v1/errors_pb2.py",
        "missing: himeji/v1/game_pb2.pyi",
    ]


def test_generating_mends_what_the_freshness_check_found(tmp_path: Path) -> None:
    package = tmp_path / "himeji/v1"
    package.mkdir(parents=True)
    (package / "chess_pb2.py").write_text("", encoding="utf-8")
    assert run(sys.executable, GENERATE, tmp_path).returncode == 0
    assert run(sys.executable, GENERATE, "--check", tmp_path).returncode == 0


def outer_class(file: FileDescriptor) -> str:
    """Java's class for a file: named after it, and so never like one of its messages."""
    return "".join(part.capitalize() for part in Path(file.name).stem.split("_")) + "Proto"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.name))
def test_every_file_has_the_options_of_the_other_languages(file: FileDescriptor) -> None:
    expected = {**OPTIONS, "java_outer_classname": outer_class(file)}
    assert {option.name: value for option, value in file.GetOptions().ListFields()} == expected


@pytest.mark.parametrize(
    ("option", "breaks"), [("go_package", False), ("java_package", True), ("ruby_package", True)]
)
def test_only_the_package_of_go_may_still_change(
    tmp_path: Path, option: str, *, breaks: bool
) -> None:
    shutil.copy(ROOT / "buf.yaml", tmp_path)
    shutil.copytree(ROOT / "proto", tmp_path / "proto")
    for file in (tmp_path / "proto/himeji/v1").iterdir():
        text = file.read_text(encoding="utf-8")
        file.write_text(
            re.sub(rf'option {option} = ".*";', f'option {option} = "other";', text),
            encoding="utf-8",
        )
    result = subprocess.run(
        [str(BUF), "breaking", "--against", str(ROOT)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode != 0, option in result.stdout) == (breaks, breaks), result


def test_the_template_generates_with_every_plugin_that_is_here(tmp_path: Path) -> None:
    template = yaml.safe_load((ROOT / "buf.gen.yaml").read_text(encoding="utf-8"))
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    here = [plugin for plugin in template["plugins"] if shutil.which(program_of(plugin), path=path)]
    assert {"python", "pyi"} <= {plugin.get("protoc_builtin") for plugin in here}
    file = tmp_path / "buf.gen.yaml"
    file.write_text(yaml.safe_dump({**template, "plugins": here}), encoding="utf-8")
    result = subprocess.run(
        [str(BUF), "generate", "--template", str(file), "--output", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (result.returncode, result.stderr) == (0, "")
    for plugin in here:
        assert any((tmp_path / plugin["out"]).rglob("*.*")), plugin


def program_of(plugin: dict[str, Any]) -> str:
    """The program that runs a plugin of the template."""
    return str(plugin.get("local") or plugin.get("protoc_path", "protoc"))


def test_the_contract_imports_nothing_but_google_protobuf() -> None:
    imports = {name for file in FILES for name in file_imports(file)}
    assert imports
    for name in imports:
        assert name.startswith(("google/protobuf/", "himeji/v1/"))


def file_imports(file: FileDescriptor) -> list[str]:
    proto = descriptor_pb2.FileDescriptorProto()
    file.CopyToProto(proto)
    return list(proto.dependency)


def test_every_error_of_the_tree_has_its_reason_in_the_contract_and_the_other_way_round() -> None:
    tree = [error.reason for error in error_classes(errors.HimejiError)]
    contract = [name.removeprefix("ERROR_REASON_") for name in REASONS]
    assert len(tree) == len(set(tree))
    assert set(tree) == set(contract)


@pytest.mark.parametrize("name", REASONS)
def test_every_error_reason_says_its_status_and_its_metadata(name: str) -> None:
    comment = reason_comments()[name.removeprefix("ERROR_REASON_")]
    assert re.search(r"Status: ([A-Z_]+|none)\.", comment)
    assert re.search(r"Metadata: \S", comment)


@pytest.mark.parametrize("enum", ENUMS, ids=named)
def test_every_enum_starts_with_unspecified(enum: EnumDescriptor) -> None:
    assert enum.values[0].number == 0
    assert enum.values[0].name.endswith("_UNSPECIFIED")


@pytest.mark.parametrize("method", METHODS, ids=named)
def test_every_rpc_has_a_request_and_a_response_of_its_own(method: MethodDescriptor) -> None:
    assert method.input_type.name == f"{method.name}Request"
    assert method.output_type.name == f"{method.name}Response"
    used = [kind for other in METHODS for kind in (other.input_type, other.output_type)]
    assert used.count(method.input_type) == used.count(method.output_type) == 1


@pytest.mark.parametrize(
    "method", [method for method in METHODS if method.name.startswith(PAGED)], ids=named
)
def test_every_rpc_that_lists_has_pages(method: MethodDescriptor) -> None:
    request, response = method.input_type.fields_by_name, method.output_type.fields_by_name
    assert request["page_size"].type == FieldDescriptor.TYPE_INT32
    assert request["page_token"].type == FieldDescriptor.TYPE_STRING
    assert response["next_page_token"].type == FieldDescriptor.TYPE_STRING
    assert any(field.is_repeated for field in method.output_type.fields)


@pytest.mark.parametrize(
    "method",
    [
        method
        for method in METHODS
        if not method.name.startswith(READING) and method.name not in SAFE_BY_THEMSELVES
    ],
    ids=named,
)
def test_every_rpc_that_changes_something_has_a_request_id(method: MethodDescriptor) -> None:
    field = method.input_type.fields_by_name["request_id"]
    assert (field.type, field.number) == (FieldDescriptor.TYPE_STRING, 1)


@pytest.mark.parametrize("name", SAFE_BY_THEMSELVES)
def test_an_rpc_whose_retry_is_safe_anyway_has_no_request_id(name: str) -> None:
    [method] = [method for method in METHODS if method.name == name]
    assert "request_id" not in method.input_type.fields_by_name


def test_no_message_is_called_like_a_common_type_of_csharp() -> None:
    common = {
        "Action",
        "Attribute",
        "Buffer",
        "Delegate",
        "Enum",
        "Func",
        "Index",
        "Object",
        "Range",
    }
    common |= {"Random", "String", "Task", "Thread", "Timer", "Tuple", "Type", "Version"}
    assert {message.name for message in MESSAGES} & common == set()


def test_names_survive_every_language() -> None:
    reserved = set(KEYWORDS.split())
    names = {field.full_name: field.name for message in MESSAGES for field in message.fields}
    names |= {one.full_name: one.name for message in MESSAGES for one in message.oneofs}
    assert {full for full, name in names.items() if name in reserved} == set()
    # In C# a property must not be called like its class.
    for message in MESSAGES:
        assert message.name.lower() not in {
            field.name.replace("_", "") for field in message.fields
        }, message.full_name


def test_numbers_are_of_types_that_every_language_has() -> None:
    unsigned = (FieldDescriptor.TYPE_UINT32, FieldDescriptor.TYPE_UINT64)
    fixed = (FieldDescriptor.TYPE_FIXED32, FieldDescriptor.TYPE_FIXED64)
    for message in MESSAGES:
        for field in message.fields:
            assert field.type not in unsigned + fixed, field.full_name


def test_counts_of_games_have_one_width_on_ladders() -> None:
    counts = {
        field.full_name: field.type
        for message in ladder_service_pb2.DESCRIPTOR.message_types_by_name.values()
        for field in message.fields
        if field.name in {"games", "games_played", "games_planned", "rank_counts", "count"}
        or field.name in {"wins", "ties", "losses", "done", "total"}
    }
    assert len(counts) >= 13
    assert set(counts.values()) == {FieldDescriptor.TYPE_INT32}  # int64 would be text in JSON


def test_times_are_timestamps_and_spans_are_durations() -> None:
    for message in MESSAGES:
        for field in message.fields:
            if field.name.endswith(("_time", "deadline")):
                assert field.message_type, field.full_name
                assert field.message_type.name == "Timestamp", field.full_name
            assert not re.search(r"(_ms|_millis|_seconds|_micros)$", field.name), field.full_name


@pytest.mark.parametrize("message", [castle_pb2.CastlePosition, duel_pb2.DuelPosition])
def test_a_position_of_a_family_is_flat(message: type[Message]) -> None:
    for field in message.DESCRIPTOR.fields:
        assert field.message_type is None, field.full_name
        assert not field.is_repeated or field.is_packed, field.full_name


def test_a_position_encoded_once_can_be_spliced_into_a_decision() -> None:
    decision = game_pb2.Decision(game_id="g-1", decision_id=14, legal_actions=[1, 2])
    position = position_pb2.Position(
        ruleset="base", castle=castle_pb2.CastlePosition(round=2, coins=[3, 4])
    )
    shared = position.SerializeToString()
    number = game_pb2.Decision.POSITION_FIELD_NUMBER
    assert number <= 15, "the tag is one byte"
    assert len(shared) < 128, "so is the length here"
    spliced = decision.SerializeToString() + bytes([number << 3 | 2, len(shared)]) + shared
    decision.position.CopyFrom(position)
    assert game_pb2.Decision.FromString(spliced) == decision
