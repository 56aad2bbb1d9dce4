"""The supervisor: a child is restarted whenever it ends, with exponential back-off."""

import asyncio

from himeji_server.launch.supervisor import RestartPolicy, SupervisedProcess
from himeji_server.startup_errors import StartRefusedError
from structlog.testing import capture_logs

POLICY = RestartPolicy(first_delay=0.001, longest_delay=0.004, steady_seconds=0.05)


class ScriptedProcess(SupervisedProcess):
    """Runs for so many seconds each time, or fails to start where the script has an error."""

    def __init__(self, *script, alive=False):
        super().__init__("child", POLICY, number=7)
        self.script = list(script)
        self.alive = alive
        self.launched = 0

    def is_alive(self):
        return self.alive

    async def launch(self):
        self.launched += 1
        if isinstance(self.script[0], Exception):
            raise self.script.pop(0)
        self.alive = True

    async def wait(self):
        await asyncio.sleep(self.script.pop(0))
        self.alive = False
        if not self.script:
            await self.stop()
        return "it ended"

    async def stop(self):
        self._stopping.set()


async def logged_by(process):
    with capture_logs() as logged:
        async with asyncio.timeout(60):
            await process.keep_running()
    return logged


def delays(logged):
    return [each["wait_s"] for each in logged if each["event"] == "child is not running"]


async def test_the_delay_doubles_up_to_the_longest():
    process = ScriptedProcess(0, 0, 0, 0, 0, 0)
    logged = await logged_by(process)
    assert delays(logged) == [0.001, 0.002, 0.004, 0.004, 0.004]
    assert process.launched == 6
    assert {each["number"] for each in logged} == {7}


async def test_a_child_that_ran_steadily_is_restarted_with_the_first_delay():
    assert delays(await logged_by(ScriptedProcess(0, 0, 0.1, 0))) == [0.001, 0.002, 0.001]


async def test_a_start_that_fails_is_tried_again_and_counts_as_a_restart():
    refused = StartRefusedError("no room")
    process = ScriptedProcess(0, refused, OSError("no memory"), 0)
    logged = await logged_by(process)
    assert delays(logged) == [0.001, 0.002, 0.004]
    assert [each.get("why") for each in logged] == ["it ended", "no room", "no memory", None]
    assert logged[-1]["event"] == "child runs again"


async def test_a_child_that_is_alive_already_is_not_launched_a_second_time():
    process = ScriptedProcess(0.01, alive=True)
    assert await logged_by(process) == []
    assert process.launched == 0


async def test_a_child_that_is_stopped_while_it_waits_for_its_restart_is_not_launched():
    process = ScriptedProcess(0, 0)
    process._policy = RestartPolicy(first_delay=0.05)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(process.keep_running())
        await asyncio.sleep(0.01)
        assert not process.is_alive()
        await process.stop()
    assert process.launched == 1


async def test_a_child_that_is_stopped_while_it_is_launched_is_not_waited_for(monkeypatch):
    process = ScriptedProcess(0)
    monkeypatch.setattr(process, "launch", process.stop)
    assert await logged_by(process) == []
    assert process.script == [0]


async def test_a_child_that_was_stopped_is_not_restarted():
    process = ScriptedProcess(0.05, 0)
    async with asyncio.timeout(60), asyncio.TaskGroup() as group:
        group.create_task(process.keep_running())
        await asyncio.sleep(0.01)
        await process.stop()
    assert process.launched == 1
