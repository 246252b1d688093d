-- SPDX-License-Identifier: GPL-2.0-or-later
-- Has the server make a piece of its map as soon as it runs.
minetest.after(0, function()
	minetest.emerge_area({x = -800, y = -32, z = -800}, {x = 800, y = 64, z = 800})
	minetest.log("action", "pregenerate: begins")
end)
