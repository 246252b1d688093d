# SPDX-License-Identifier: GPL-2.0-or-later
"""
asyncio_client.py PORT TASKS
Each task asks the service at PORT of loopback and waits for the answer, again and again. A line is printed for each
answer.
"""
import asyncio
import sys


async def fetch_prices(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while True:
        writer.write(b"price of 17\n")
        await reader.readline()
        print("answer", flush=True)


async def main(port, tasks):
    await asyncio.gather(*(fetch_prices(port) for _ in range(tasks)))


asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
