/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scripts in Lua 5.4. A script may define filter(event), on_event(event), on_activity(activity), finish() and the list events; the manual page
 * pinch-scripts(5) says what they are.
 *
 * Owns: Lua, its limits, and what of pinch a script can reach.
 * Used by: activity/decode.
 */
#pragma once

struct script_language;

extern const struct script_language lua_language;
