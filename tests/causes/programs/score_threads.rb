#!/usr/bin/ruby
# SPDX-License-Identifier: GPL-2.0-or-later
# Planted cause: four threads compute in Ruby, and all need the virtual machine's lock. Cured: two processes.
# Known answer: the GVL, held by score_rows.
require_relative "planted"

def score_rows
  total = 0
  20_000.times { |row| total += row * row % 97 }
  total
end

def run
  loop do
    score_rows
    Planted.done
  end
end

if Planted.cured?
  reader, writer = IO.pipe
  2.times do
    fork do
      loop do
        score_rows
        writer.write("x")
      end
    end
  end
  loop do
    reader.read(1)
    Planted.done
  end
else
  Array.new(4) { Thread.new { run } }.each(&:join)
end
