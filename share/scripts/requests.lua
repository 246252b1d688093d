-- SPDX-License-Identifier: GPL-2.0-or-later
-- Statistics: how long activities of each kind take, with percentiles, and how the lengths of all are spread.
--
--	pinch dump --statistics --script requests.lua t.pinch

local lengths, all = {}, {}

function on_activity(activity)
	local of_kind = lengths[activity.name] or {}
	lengths[activity.name] = of_kind
	of_kind[#of_kind + 1] = activity.length
	local class = activity.length > 0 and math.floor(math.log(activity.length, 2)) or 0
	all[class] = (all[class] or 0) + 1
end

-- The shortest length that so large a share of the sorted ones does not exceed.
local function percentile(sorted, share)
	return sorted[math.max(1, math.ceil(share * #sorted))]
end

function finish()
	local rows, classes = {}, {}
	for name, of_kind in pairs(lengths) do
		table.sort(of_kind)
		rows[#rows + 1] = { name, #of_kind, percentile(of_kind, 0.5), percentile(of_kind, 0.9), percentile(of_kind, 0.99), of_kind[#of_kind] }
	end
	table.sort(rows, function(a, b) return a[5] > b[5] or a[5] == b[5] and a[1] < b[1] end)
	statistics { title = "Length of activities", rows = rows,
		columns = { "activity", { name = "count", unit = "count" }, { name = "p50", unit = "ns" }, { name = "p90", unit = "ns" },
			{ name = "p99", unit = "ns" }, { name = "longest", unit = "ns" } } }
	for class, count in pairs(all) do
		classes[#classes + 1] = { 1 << class, count }
	end
	table.sort(classes, function(a, b) return a[1] < b[1] end)
	statistics { title = "Activities by length", show = "histogram", rows = classes,
		columns = { { name = "from", unit = "ns" }, { name = "activities", unit = "count" } } }
end
