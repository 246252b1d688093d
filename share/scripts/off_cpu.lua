-- SPDX-License-Identifier: GPL-2.0-or-later
-- A decoder and statistics: how long each thread was off a CPU, and how often threads left one in each 10 ms.
--
--	pinch dump --statistics --script off_cpu.lua t.pinch

events = { "sched.SWITCH" }

local WIDTH_NS = 10000000
local off, threads, moments, last = {}, {}, {}, 0

function on_event(event)
	local begin, moment = off[event.next], math.floor(event.seconds * 1e9 / WIDTH_NS)
	if begin then
		activity { name = "off CPU", begin = begin, ["end"] = event.time, thread = event.next }
	end
	off[event.next] = nil
	if event.thread ~= 0 then
		off[event.thread] = event.time
		moments[moment] = (moments[moment] or 0) + 1
	end
	last = math.max(last, moment)
end

function on_activity(activity)
	if activity.name ~= "off CPU" then
		return
	end
	local row = threads[activity.thread] or { activity.thread_name or "unknown", activity.tid, 0, 0, 0 }
	threads[activity.thread] = row
	row[3] = row[3] + 1
	row[4] = row[4] + activity.length
	row[5] = math.max(row[5], activity.length)
end

function finish()
	local rows, line = {}, {}
	for _, row in pairs(threads) do
		rows[#rows + 1] = row
	end
	table.sort(rows, function(a, b) return a[4] > b[4] or a[4] == b[4] and (a[2] or 0) < (b[2] or 0) end)
	statistics { title = "Time off a CPU by thread", rows = rows,
		columns = { "thread", "tid", { name = "times", unit = "count" }, { name = "total", unit = "ns" }, { name = "longest", unit = "ns" } } }
	for moment = 0, math.min(last, 9999) do
		line[#line + 1] = { moment * WIDTH_NS, moments[moment] or 0 }
	end
	statistics { title = "Switches in each 10 ms", show = "line", rows = line,
		columns = { { name = "time", unit = "ns" }, { name = "switches", unit = "count" } } }
end
