"""Makes messages of any type at random, with an eye for what their fields mean."""

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

EDGES = (0, 1, -1, 2, 7, 64, 127, 255, 1_000, 65_536, (1 << 31) - 1, -(1 << 31), 1 << 31)
LONG_EDGES = (*EDGES, 1 << 32, (1 << 53) - 1, (1 << 63) - 1, -(1 << 63))
NUMBERS = (0.0, -0.0, 0.5, -1.0, 1e308, float("inf"), float("-inf"), float("nan"))
TEXTS = (
    "",
    " ",
    "a",
    "local",
    "house/greedy",
    "a/b/c",
    "/",
    "-",
    "base",
    "base-2p",
    "easy",
    "'; DROP TABLE",
    "%s%n{}{0.__class__}",
    "../../etc/passwd",
    "\x00",
    "line\nline",
    "\x1b[31m",
    "\u202e",
    "ё" * 40,
    "x" * 33,
    "x" * 5_000,
    "0",
    "-1",
    "1e9",
    "NaN",
    "true",
    "None",
    "{}",
)
KNOWN_SHARE = 0.6
"""How often a field whose name is known gets a value that exists."""

SET_SHARE = 0.65
DEEPEST = 6

_INTEGERS = {
    FieldDescriptor.CPPTYPE_INT32: (EDGES, -(1 << 31), (1 << 31) - 1),
    FieldDescriptor.CPPTYPE_UINT32: (EDGES, 0, (1 << 32) - 1),
    FieldDescriptor.CPPTYPE_INT64: (LONG_EDGES, -(1 << 63), (1 << 63) - 1),
    FieldDescriptor.CPPTYPE_UINT64: (LONG_EDGES, 0, (1 << 64) - 1),
}


_CHOICES = {
    FieldDescriptor.CPPTYPE_BOOL: (False, True),
    FieldDescriptor.CPPTYPE_DOUBLE: NUMBERS,
    FieldDescriptor.CPPTYPE_FLOAT: NUMBERS,
    FieldDescriptor.CPPTYPE_STRING: TEXTS,
}


class MessageMaker:
    """Makes messages; `known` has, by the name of a field, values that exist in the arena."""

    def __init__(self, random, known):
        self._random = random
        self._known = known

    def bytes_of(self, descriptor):
        """The bytes of a random message, now and then mutated themselves."""
        raw = self.message(descriptor).SerializePartialToString()
        return self._mutated(raw) if self._random.random() < 1 / 8 else raw

    def message(self, descriptor, depth=0):
        """A random message of a type."""
        out = GetMessageClass(descriptor)()
        for field in descriptor.fields:
            if self._random.random() < SET_SHARE / (1 + depth / 2):
                self._set(out, field, depth)
        return out

    def _set(self, out, field, depth):
        if field.message_type is not None and field.message_type.GetOptions().map_entry:
            self._set_map(getattr(out, field.name), field.message_type, depth)
        elif field.is_repeated:
            values = [self._value(field, depth) for _ in range(self._length())]
            if values and values[0] is not None:
                getattr(out, field.name).extend(values)
        elif field.message_type is not None:
            value = self._value(field, depth)
            if value is not None:
                getattr(out, field.name).CopyFrom(value)
        else:
            setattr(out, field.name, self._value(field, depth))

    def _set_map(self, out, entry, depth):
        key, value = entry.fields_by_name["key"], entry.fields_by_name["value"]
        for _ in range(self._length()):
            out[self._value(key, depth)] = self._value(value, depth)

    def _length(self):
        return self._random.choice((0, 1, 1, 2, 2, 3, 4, 9, 70))

    def _value(self, field, depth):
        """A value of a field; None for a message that would be too deep."""
        if field.cpp_type == FieldDescriptor.CPPTYPE_MESSAGE:
            return self.message(field.message_type, depth + 1) if depth < DEEPEST else None
        value = self._scalar(field)
        known = [each for each in self._known.get(field.name, ()) if type(each) is type(value)]
        return (
            self._random.choice(known) if known and self._random.random() < KNOWN_SHARE else value
        )

    def _scalar(self, field):
        kind, random = field.cpp_type, self._random
        if kind in _INTEGERS:
            edges, least, most = _INTEGERS[kind]
            value = random.choice(edges) if random.random() < 0.5 else random.randrange(400)
            return min(max(value, least), most)
        if field.enum_type is not None:
            numbers = [each.number for each in field.enum_type.values]
            return random.choice((*numbers, *numbers, 77, -3))
        if field.type == FieldDescriptor.TYPE_BYTES:
            return random.randbytes(random.choice((0, 1, 16, 32, 33, 300)))
        return random.choice(_CHOICES[kind])

    def _mutated(self, raw):
        """The bytes with some of them changed, taken out, doubled or added."""
        out, random = bytearray(raw), self._random
        for _ in range(random.randint(1, 4)):
            place = random.randrange(len(out) + 1)
            match random.randrange(4):
                case 0 if out:
                    out[place % len(out)] ^= 1 << random.randrange(8)
                case 1:
                    del out[place : place + random.randint(1, 8)]
                case 2:
                    out[place:place] = out[place : place + random.randint(1, 16)]
                case _:
                    out[place:place] = random.randbytes(random.randint(1, 8))
        return bytes(out)
