-- SPDX-License-Identifier: GPL-2.0-or-later
-- Statistics: which threads have the most events, and which events there are.
--
--	pinch dump --statistics --script threads.lua t.pinch

local threads, kinds = {}, {}

function on_event(event)
	local number = event.thread
	if not threads[number] then
		threads[number] = { event.thread_name or "none", event.tid, 0 }
	end
	threads[number][3] = threads[number][3] + 1
	kinds[event.name] = (kinds[event.name] or 0) + 1
end

function finish()
	local by_thread, by_kind = {}, {}
	for _, row in pairs(threads) do
		by_thread[#by_thread + 1] = row
	end
	table.sort(by_thread, function(a, b) return a[3] > b[3] or a[3] == b[3] and (a[2] or 0) < (b[2] or 0) end)
	for name, count in pairs(kinds) do
		by_kind[#by_kind + 1] = { name, count }
	end
	table.sort(by_kind, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
	statistics { title = "Events by kind", show = "bars", rows = by_kind,
		columns = { "event", { name = "events", unit = "count" } } }
	statistics { title = "Events by thread", rows = by_thread,
		columns = { "thread", "tid", { name = "events", unit = "count" } } }
end
