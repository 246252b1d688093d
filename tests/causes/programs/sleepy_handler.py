# SPDX-License-Identifier: GPL-2.0-or-later
"""
sleepy_handler.py PORT SLEEP_S
An HTTP server that hands requests to eight threads by a queue. Its handler sleeps SLEEP_S in look_up_stock().
"""
import http.server
import queue
import sys
import threading
import time

SLEEP_S = float(sys.argv[2])
jobs = queue.Queue()


def look_up_stock():
    time.sleep(SLEEP_S)
    return b"17 left"


def work():
    while True:
        answer = jobs.get()
        answer.put(look_up_stock())


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        answer = queue.Queue()
        jobs.put(answer)
        body = answer.get()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


for number in range(8):
    threading.Thread(target=work, name=f"worker-{number}", daemon=True).start()
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
