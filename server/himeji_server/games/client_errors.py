"""What a client may see of something that went wrong, whichever way it came in."""

import secrets

import structlog
from himeji.rules.errors import HimejiError, InternalFault, StoreUnavailable
from himeji.wire.errors import STATUS_CODES

from himeji_server.store import StoreImpairedError

_log = structlog.get_logger(__name__)


def as_error(raised: Exception, where: str) -> HimejiError:
    """Give the error of the tree that a client may see for what was raised.

    Anything else is a defect: the client gets an incident id, under which the log has the rest.
    """
    sole: BaseException = raised
    while isinstance(sole, BaseExceptionGroup) and len(sole.exceptions) == 1:
        sole = sole.exceptions[0]  # what a task group makes of one task's error
    if isinstance(sole, StoreImpairedError):
        sole = StoreUnavailable(sole.message)  # what is wrong with it is not the client's business
    if isinstance(sole, HimejiError) and type(sole) in STATUS_CODES:
        return sole
    fault = InternalFault(secrets.token_hex(8))
    _log.error("fault", incident=fault.incident, method=where, exc_info=raised)
    return fault
