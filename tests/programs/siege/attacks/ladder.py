"""Long work on a ladder: no attack, but it must not hurt others more than one."""

from grpc.aio import AioRpcError
from himeji.v1 import ladder_service_pb2 as ladders
from himeji_sdk.connection import credentials

from tests.programs.siege.attacks.attack import UNLIMITED, Attack, limit_values
from tests.programs.siege.stored_games import LADDER


class Recompute(Attack):
    """Has the operator recompute the standings of a season, several times at once."""

    name = "recompute under load"
    uses_admin_token = True
    control = limit_values(recomputations=UNLIMITED)
    symptom = "none was refused"
    rated_results = 10_000
    AT_ONCE = 8

    async def run(self, target):
        request = ladders.RecomputeStandingsRequest(ladder=LADDER).SerializeToString()
        async with self.channels(target) as (channel,):
            method = channel.unary_stream("/himeji.v1.LadderService/RecomputeStandings")

            async def recompute():
                try:
                    async for _ in method(request, metadata=credentials(target.token)):
                        self.told["progress"] += 1
                    self.told["OK"] += 1
                except AioRpcError as error:
                    self.refused(error)

            await self.repeat(target, self.AT_ONCE, recompute)

    def harm(self, told):
        """Each of them has a process of its own, so most of them have to wait."""
        refused = any(answer.endswith("LIMIT_EXCEEDED") for answer in told)
        return "" if refused else f"{self.AT_ONCE} recomputations at once, and none was refused"


ATTACKS = (Recompute,)
