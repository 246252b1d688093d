-- SPDX-License-Identifier: GPL-2.0-or-later
-- Asks for 64 files by chance.
request = function()
	return wrk.format("GET", "/" .. math.random(0, 63))
end
