# SPDX-License-Identifier: GPL-2.0-or-later
# What the planted programs in Ruby share: as planted.h says.
module Planted
  @lock = Mutex.new
  PERIOD_S = 0.1
  @printed = @count = 0

  def self.cured?
    ARGV.last == "cured"
  end

  # A unit of work is done, of any thread.
  def self.done
    @lock.synchronize do
      @count += 1
      now = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      if now >= @printed + PERIOD_S
        $stdout.write("#{@count}\n")
        $stdout.flush
        @printed = now
      end
    end
  end
end
