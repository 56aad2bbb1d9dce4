"""The largest request of every RPC, built from the descriptors and the table of request limits."""

from functools import cache

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from grpc_health.v1 import health_pb2
from grpc_reflection.v1alpha import reflection_pb2
from himeji_server.limits import Limits
from himeji_server.request_limits import CHECKED_LATER, FIELDS, MESSAGES, TEXT_IN_LIST
from himeji_server.rpc import rpc_handlers

REFLECTION = reflection_pb2.ServerReflectionRequest.DESCRIPTOR
OTHERS = {
    "/grpc.health.v1.Health/Check": health_pb2.HealthCheckRequest.DESCRIPTOR,
    "/grpc.health.v1.Health/Watch": health_pb2.HealthCheckRequest.DESCRIPTOR,
    "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo": REFLECTION,
    "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": REFLECTION,
}


@cache
def request_types():
    """The descriptor of the request of every method, by path."""
    return {path: method.input_type for path, method in rpc_handlers.methods()} | OTHERS


def has_length(field):
    """Whether a client decides how long a field is."""
    lengths = (FieldDescriptor.TYPE_STRING, FieldDescriptor.TYPE_BYTES)
    return field.is_repeated or field.type in lengths


def reachable_fields(descriptor):
    """Every field of a message at any depth, but for the inside of messages limited as a whole."""
    for field in descriptor.fields:
        yield field
        if field.message_type is not None and field.message_type.full_name not in MESSAGES:
            yield from reachable_fields(field.message_type)


def largest(descriptor, limits=None, longer=None):
    """A message with every field at its limit; the one named `longer` is one beyond it.

    Of a oneof, the member that leads to that field is set, else the first one.
    """
    limits = limits or Limits()
    message = GetMessageClass(descriptor)()
    for field in descriptor.fields:
        if _is_chosen(field, longer):
            _fill(message, field, limits, longer)
    return message


def _is_chosen(field, longer):
    oneof = field.containing_oneof
    if oneof is None or len(oneof.fields) == 1:
        return True
    leads = [each for each in oneof.fields if _leads_to(each, longer)]
    return field is (leads or oneof.fields)[0]


def _leads_to(field, name):
    inside = () if field.message_type is None else reachable_fields(field.message_type)
    return name in {field.full_name, *(each.full_name for each in inside)}


def _fill(message, field, limits, longer):
    length = getattr(limits, FIELDS[field.full_name]) if field.full_name in FIELDS else 0
    length += field.full_name == longer
    if field.is_repeated and field.message_type is not None:
        # Only one entry leads to the field that is too long, and only one message of a batch is
        # large, so that the message stays small.
        entries = getattr(message, field.name)
        entries.append(largest(field.message_type, limits, longer))
        few = field.full_name in CHECKED_LATER or (longer and field.full_name != longer)
        entries.extend([type(entries[0])() if few else entries[0]] * (length - 1))
    elif field.is_repeated:
        is_text = field.type == FieldDescriptor.TYPE_STRING
        entry = "x" * getattr(limits, TEXT_IN_LIST) if is_text else 1
        getattr(message, field.name).extend([entry] * length)
    elif field.message_type is not None:
        if field.message_type.full_name not in MESSAGES:
            inside = largest(field.message_type, limits, longer)
            getattr(message, field.name).MergeFrom(inside)
    elif field.type == FieldDescriptor.TYPE_STRING:
        setattr(message, field.name, "x" * length)
    elif field.type == FieldDescriptor.TYPE_BYTES:
        setattr(message, field.name, b"x" * length)
