#!/usr/bin/ruby
# SPDX-License-Identifier: GPL-2.0-or-later
# rate_limit.rb PORT [cured]
# A server with a thread a connection that answers each line. Planted cause: before each answer, a mutex is held for a sleep
# of 10 ms. Cured: each sleeps without it.
# Known answer: the sleep in wait_turn, under the mutex.
require "socket"
require_relative "planted"

TURN = Mutex.new

def wait_turn
  return sleep(0.01) if Planted.cured?

  TURN.synchronize { sleep 0.01 }
end

def serve(client)
  while client.gets
    wait_turn
    client.write("ok\n")
    Planted.done
  end
end

server = TCPServer.new("127.0.0.1", Integer(ARGV[0]))
loop do
  Thread.new(server.accept) do |client|
    client.setsockopt(Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1)
    serve(client)
  end
end
