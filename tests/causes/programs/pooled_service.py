# SPDX-License-Identifier: GPL-2.0-or-later
"""
pooled_service.py PORT PEER_PORT CONNECTIONS
An HTTP server with a thread a connection. Each request takes a connection to another service from a pool, in
take_connection(), asks over it, in query(), and gives it back.
"""
import http.server
import queue
import socket
import sys

pool = queue.Queue()


def take_connection():
    return pool.get()


def query(connection):
    connection.sendall(b"price of 17\n")
    return connection.recv(100)


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self):
        connection = take_connection()
        body = query(connection)
        pool.put(connection)
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


for _ in range(int(sys.argv[3])):
    pool.put(socket.create_connection(("127.0.0.1", int(sys.argv[2]))))
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
