#!/usr/bin/ruby
# SPDX-License-Identifier: GPL-2.0-or-later
# Planted cause: four threads hold a mutex while they wait until ledger.dat is on the disk. Cured: they do not wait for
# the disk.
# Known answer: fsync of ledger.dat, in book.
require_relative "planted"

LOCK = Mutex.new
FILE = File.open("ledger.dat", "w")
FILE.sync = true

def book
  LOCK.synchronize do
    FILE.pwrite("x" * 500, 0)
    FILE.fsync unless Planted.cured?
  end
end

def run
  loop do
    book
    Planted.done
  end
end

Array.new(4) { Thread.new { run } }.each(&:join)
