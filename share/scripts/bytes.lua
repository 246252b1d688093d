-- SPDX-License-Identifier: GPL-2.0-or-later
-- Statistics: bytes by application and event, of all events with a field "bytes".
--
--	pinch dump --statistics --script bytes.lua t.pinch

local sums = {}

function on_event(event)
	local bytes = event:field("bytes")
	if math.type(bytes) ~= "integer" then
		return
	end
	local key = (event.application or "") .. "\n" .. event.name
	local sum = sums[key] or { (event.application or "unknown") .. ": " .. event.name, 0, 0, 0 }
	sums[key] = sum
	sum[2] = sum[2] + bytes
	sum[3] = sum[3] + 1
	sum[4] = math.max(sum[4], bytes)
end

function finish()
	local rows = {}
	for _, sum in pairs(sums) do
		rows[#rows + 1] = sum
	end
	table.sort(rows, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
	statistics { title = "Bytes by application and event", show = "bars", rows = rows,
		columns = { "what", { name = "bytes", unit = "bytes" }, { name = "events", unit = "count" }, { name = "largest", unit = "bytes" } } }
end
