/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table is read without metamethods, so that no code of the script runs meanwhile. Strings stay where Lua has them: the argument holds them.
 * What is made of it is memory of Lua's, which an error leaves to its collector.
 */
#include "activity/lua/lua_statistics.h"

#include <string.h>

#include <lauxlib.h>
#include <lua.h>

#include "activity/lua/lua_limits.h"
#include "activity/script_language.h"
#include "activity/script_table.h"

/* Where the argument and its members lie on the stack. */
enum place { PLACE_ARGUMENT = 1, PLACE_COLUMNS, PLACE_ROWS, PLACE_CELLS, PLACE_TEXTS };

struct made {
	struct script_table table;
	struct table_cell *cells;
	size_t text_bytes; /* of all cells so far */
};

/* What is on top of the stack has to be a table without a metatable. */
static void check_table(lua_State *lua, const char *what)
{
	if (lua_type(lua, -1) != LUA_TTABLE)
		luaL_error(lua, "statistics: %s has to be a table, not %s", what, luaL_typename(lua, -1));
	if (lua_getmetatable(lua, -1))
		luaL_error(lua, "statistics: %s has a metatable", what);
}

/* Of the table at the place; pushes it. Returns its type. */
static int member(lua_State *lua, int place, const char *name)
{
	place = lua_absindex(lua, place);
	lua_pushstring(lua, name);
	return lua_rawget(lua, place);
}

/* What is on top of the stack, and stays with the argument. */
static const char *title(lua_State *lua, const char *what)
{
	const char *text;
	size_t length;

	if (lua_type(lua, -1) != LUA_TSTRING)
		luaL_error(lua, "statistics: %s has to be a string, not %s", what, luaL_typename(lua, -1));
	text = lua_tolstring(lua, -1, &length);
	if (!length || length > TABLE_TITLE_BYTES_MAX || memchr(text, '\0', length))
		luaL_error(lua, "statistics: %s has to have 1 to %d bytes, none of them 0", what,
			   TABLE_TITLE_BYTES_MAX);
	lua_pop(lua, 1);
	return text;
}

/* --- Columns ---------------------------------------------------------------------------------- */

/* Of a column, which is on top of the stack. */
static enum table_unit unit_of(lua_State *lua)
{
	if (member(lua, -1, "unit") == LUA_TNIL) {
		lua_pop(lua, 1);
		return UNIT_NONE;
	}
	for (int unit = UNIT_NONE + 1; unit < UNITS; unit++)
		if (lua_type(lua, -1) == LUA_TSTRING && !strcmp(lua_tostring(lua, -1), table_unit_name(unit))) {
			lua_pop(lua, 1);
			return unit;
		}
	return luaL_error(lua, "statistics: the unit of a column is 'ns', 'bytes' or 'count'");
}

/* A name, or a table with name and unit; it is on top of the stack. */
static struct table_column column_of(lua_State *lua)
{
	struct table_column column = { 0 };

	if (lua_type(lua, -1) == LUA_TTABLE) {
		check_table(lua, "a column");
		column.unit = unit_of(lua);
		member(lua, -1, "name");
		column.name = title(lua, "the name of a column");
		lua_pop(lua, 1);
	} else {
		column.name = title(lua, "the name of a column");
	}
	return column;
}

static void take_columns(lua_State *lua, struct script_table *table)
{
	lua_Unsigned count;

	member(lua, PLACE_ARGUMENT, "columns");
	check_table(lua, "columns");
	count = lua_rawlen(lua, PLACE_COLUMNS);
	if (!count || count > TABLE_COLUMNS_MAX)
		luaL_error(lua, "statistics: columns has to be a list of 1 to %d columns", TABLE_COLUMNS_MAX);
	for (lua_Unsigned i = 1; i <= count; i++) {
		lua_rawgeti(lua, PLACE_COLUMNS, i);
		table->columns[table->column_count++] = column_of(lua);
	}
}

static enum table_view view_of(lua_State *lua)
{
	if (member(lua, PLACE_ARGUMENT, "show") == LUA_TNIL) {
		lua_pop(lua, 1);
		return VIEW_TABLE;
	}
	for (int view = 0; view < TABLE_VIEWS; view++)
		if (lua_type(lua, -1) == LUA_TSTRING && !strcmp(lua_tostring(lua, -1), table_view_name(view))) {
			lua_pop(lua, 1);
			return view;
		}
	return luaL_error(lua, "statistics: show has to be 'table', 'bars', 'line' or 'histogram'");
}

/* --- Rows ------------------------------------------------------------------------------------- */

/* The length of so much of the text as fits, without half a character at its end. */
static size_t cut(const char *text, size_t length)
{
	if (length <= TABLE_CELL_BYTES_MAX)
		return length;
	length = TABLE_CELL_BYTES_MAX;
	for (int i = 0; i < 3 && ((unsigned char)text[length] & 0xc0) == 0x80; i++)
		length--;
	return length;
}

/* Of what is on top of the stack. A text that is cut is kept in a table of its own. */
static const char *text_of(lua_State *lua, struct made *made)
{
	size_t length;
	const char *text = lua_tolstring(lua, -1, &length);
	size_t kept = cut(text, length);

	if (kept != length) {
		made->table.texts_cut++;
		text = lua_pushlstring(lua, text, kept);
		lua_rawseti(lua, PLACE_TEXTS, made->table.texts_cut);
	}
	made->text_bytes += kept;
	return text;
}

/* Of what is on top of the stack. */
static struct table_cell cell_of(lua_State *lua, struct made *made, lua_Unsigned row, size_t column)
{
	struct table_cell cell = { 0 };

	switch (lua_type(lua, -1)) {
	case LUA_TNIL:
		break;
	case LUA_TNUMBER:
		cell.type = lua_isinteger(lua, -1) ? CELL_INTEGER : CELL_REAL;
		if (cell.type == CELL_INTEGER)
			cell.integer = lua_tointeger(lua, -1);
		else
			cell.real = lua_tonumber(lua, -1);
		break;
	case LUA_TSTRING:
		cell.type = CELL_TEXT;
		cell.text = text_of(lua, made);
		break;
	default:
		luaL_error(lua, "statistics: rows[%d][%d] has to be a number, a string or nil, not %s", (int)row,
			   (int)column, luaL_typename(lua, -1));
	}
	return cell;
}

static void take_row(lua_State *lua, struct made *made, lua_Unsigned row)
{
	struct script_table *table = &made->table;

	lua_rawgeti(lua, PLACE_ROWS, row);
	check_table(lua, "a row");
	if (lua_rawlen(lua, -1) > table->column_count)
		luaL_error(lua, "statistics: rows[%d] has more cells than there are columns", (int)row);
	for (size_t i = 0; i < table->column_count; i++) {
		lua_rawgeti(lua, -1, i + 1);
		made->cells[table->row_count * table->column_count + i] = cell_of(lua, made, row, i + 1);
		lua_pop(lua, 1);
	}
	table->row_count++;
	lua_pop(lua, 1);
}

/* So many of them are kept. */
static lua_Unsigned rows_max(lua_Unsigned rows, size_t columns)
{
	lua_Unsigned most = TABLE_CELLS_MAX / columns;

	if (most > TABLE_ROWS_MAX)
		most = TABLE_ROWS_MAX;
	return rows < most ? rows : most;
}

static void take_rows(lua_State *lua, struct made *made)
{
	struct script_table *table = &made->table;
	lua_Unsigned all, count;

	member(lua, PLACE_ARGUMENT, "rows");
	check_table(lua, "rows");
	all = lua_rawlen(lua, PLACE_ROWS);
	count = rows_max(all, table->column_count);
	lua_limits_charge(lua, count * table->column_count);
	made->cells = lua_newuserdatauv(lua, count * table->column_count * sizeof(*made->cells) + 1, 0);
	lua_newtable(lua); /* PLACE_TEXTS */
	while (table->row_count < count && made->text_bytes < TABLE_TEXT_BYTES_MAX)
		take_row(lua, made, table->row_count + 1);
	table->cells = made->cells;
	table->rows_left_out = all - table->row_count;
}

static void check_view(lua_State *lua, const struct script_table *table)
{
	if (table->view != VIEW_TABLE && table->column_count < 2)
		luaL_error(lua, "statistics: %s need two columns at least: %s", table_view_name(table->view),
			   table->view == VIEW_BARS ? "what, and how much" : "where, and how much");
}

/* Upvalues: the host, whether it is allowed. */
static int statistics(lua_State *lua)
{
	const struct script_host *host = lua_touserdata(lua, lua_upvalueindex(1));
	const bool *is_allowed = lua_touserdata(lua, lua_upvalueindex(2));
	struct made made = { 0 };

	lua_settop(lua, 1);
	check_table(lua, "the argument");
	if (!*is_allowed)
		luaL_error(lua, "statistics: only finish() can give them");
	member(lua, PLACE_ARGUMENT, "title");
	made.table.title = title(lua, "title");
	made.table.view = view_of(lua);
	take_columns(lua, &made.table);
	take_rows(lua, &made);
	check_view(lua, &made.table);
	host->show(host->data, &made.table);
	return 0;
}

void lua_statistics_open(lua_State *lua, const struct script_host *host, const bool *is_allowed)
{
	lua_pushlightuserdata(lua, (void *)host);
	lua_pushlightuserdata(lua, (void *)is_allowed);
	lua_pushcclosure(lua, statistics, 2);
	lua_setglobal(lua, "statistics");
}
