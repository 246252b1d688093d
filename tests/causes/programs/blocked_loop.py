#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
blocked_loop.py PORT [cured]
Planted cause: a server on asyncio looks up profiles, for each request, by a function that sleeps for 20 ms and is no
coroutine: all other connections wait for the loop. Cured: it is one.
Known answer: the sleep in load_profile().
"""
import asyncio
import sys
import time

import planted


def load_profile():
    time.sleep(0.02)


async def serve(reader, writer):
    while await reader.readline():
        if planted.is_cured:
            await asyncio.sleep(0.02)
        else:
            load_profile()
        writer.write(b"ok\n")
        await writer.drain()
        planted.done()
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    async with server:
        await server.serve_forever()


asyncio.run(main())
