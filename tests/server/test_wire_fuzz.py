"""Every RPC answers whatever bytes a client sends with a status and a reason of the contract."""

import pytest
from himeji_server.rpc.rpc_handlers import methods

from tests.programs.wire_fuzz.fuzz import fuzz
from tests.programs.wire_fuzz.sender import all_methods
from tests.programs.wire_fuzz.server import DEFECTS

pytestmark = pytest.mark.timeout(600)


async def test_mutated_messages_get_an_answer_of_the_contract():
    report = await fuzz(20_000, seed=18)
    assert not report.verdict.findings, "\n".join(report.verdict.findings[:5])
    assert report.verdict.sent >= 20_000
    assert report.verdict.codes["OK"] > 1_000, "messages that say something are among them"


@pytest.mark.long
async def test_planted_defects_are_found():
    report = await fuzz(2_000, 19, DEFECTS)
    found = "\n".join(report.verdict.findings)
    assert "internal fault" in found
    assert "the server grew" in found


def test_no_method_is_left_out():
    assert dict(methods()).keys() <= all_methods().keys()
