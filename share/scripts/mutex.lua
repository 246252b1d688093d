-- SPDX-License-Identifier: GPL-2.0-or-later
-- A decoder: how long mutexes are held, by events mutex.LOCK and mutex.UNLOCK whose argument says which mutex.
--
--	pinch report --script mutex.lua t.pinch

-- No other events are wanted.
events = { "mutex.LOCK", "mutex.UNLOCK" }

-- When and by whom each mutex was taken. A process has mutexes of its own.
local held = {}

function on_event(event)
	local key = event.pid .. ":" .. event.argument
	if event.event == "LOCK" then
		held[key] = { begin = event.time, thread = event.thread }
	elseif held[key] then
		activity { name = "mutex held", begin = held[key].begin, ["end"] = event.time,
			thread = held[key].thread, mutex = event.argument }
		held[key] = nil
	end
end
