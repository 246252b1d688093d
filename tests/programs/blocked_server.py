#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
blocked_server.py [healthy | asking PORT]: as blocked_server.c, by asyncio. asking: for each request fetch_price() asks
another server on loopback, which is waited for by a poll() in the handler.
"""
import asyncio
import selectors
import socket
import sys
import time

SLOW_EVERY, SLOW_S, QUICK_S = 10, 0.05, 0.0002
served = 0


def compute(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def slow_handler():
    compute(SLOW_S)


def answer_quickly():
    compute(QUICK_S)


def fetch_price(selector, peer):
    peer.sendall(b"a")
    selector.select()
    peer.recv(1)


def ask_for():
    """A function that asks the other server, and can be told not to wait any longer."""
    selector, peer = selectors.PollSelector(), socket.create_connection(("127.0.0.1", int(sys.argv[2])))
    told, teller = socket.socketpair()
    selector.register(peer, selectors.EVENT_READ)
    selector.register(told, selectors.EVENT_READ)
    return lambda: fetch_price(selector, peer), teller


is_asking = "asking" in sys.argv
ask, kept_open = ask_for() if is_asking else (None, None)


async def serve(reader, writer):
    global served
    while byte := await reader.read(1):
        served += 1
        if is_asking:
            ask()
        elif served % SLOW_EVERY or "healthy" in sys.argv:
            answer_quickly()
        else:
            slow_handler()
        writer.write(byte)
        await writer.drain()
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


asyncio.run(main())
