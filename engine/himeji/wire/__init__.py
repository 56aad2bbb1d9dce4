"""Rules objects and errors to and from protobuf: the only place that knows both."""
