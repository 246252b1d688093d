-- SPDX-License-Identifier: GPL-2.0-or-later
-- A filter: only what one application allocates.
--
--	pinch dump --script alloc.lua t.pinch

local application = "monitor"

function filter(event)
	return event.name == "memserv.ALLOC" and event.application == application
end
