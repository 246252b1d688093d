#!/usr/bin/ruby
# SPDX-License-Identifier: GPL-2.0-or-later
# retry_server.rb PORT [cured]
# A server with a thread a connection that answers each line. Planted cause: before each answer back_off sleeps for
# 30 ms. Cured: it does not.
# Known answer: the sleep in back_off.
require "socket"
require_relative "planted"

def back_off
  sleep 0.03 unless Planted.cured?
end

def serve(client)
  while client.gets
    back_off
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
