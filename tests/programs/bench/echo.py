"""A bare grpc.aio echo server, as the reference for the arena's stream."""

import asyncio
import sys

import grpc


async def echo(requests, context):
    """Answer every message with one whose size is in its first four bytes."""
    async for request in requests:
        await context.write(bytes(int.from_bytes(request[:4], "big")))


async def main():
    server = grpc.aio.server(options=[("grpc.so_reuseport", 0)])
    handler = grpc.stream_stream_rpc_method_handler(echo)
    service = grpc.method_handlers_generic_handler("bench.Echo", {"Echo": handler})
    server.add_generic_rpc_handlers((service,))
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await server.wait_for_termination()


if __name__ == "__main__":
    try:
        import uvloop

        uvloop.install()
    except ModuleNotFoundError:
        pass
    asyncio.run(main())
