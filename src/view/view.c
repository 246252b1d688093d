/* SPDX-License-Identifier: GPL-2.0-or-later */

#include "view/view.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

const struct view *const views[] = { &text_view, &json_view, NULL };

const struct view *view_find(const char *name)
{
	for (const struct view *const *view = views; *view; view++)
		if (!strcmp((*view)->name, name))
			return *view;
	return NULL;
}

/*
 * Read from the environment, as setlocale() would: it is not called, so that numbers keep
 * their point everywhere.
 */
static bool locale_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "UTF-8") || strcasestr(value, "UTF8");
	}
	return false;
}

struct view_style view_style_for(int fd)
{
	struct view_style style = {
		.width = VIEW_WIDTH_DEFAULT,
		.has_unicode = locale_is_utf8(),
	};
	const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
	bool is_dumb = !terminal || !*terminal || !strcmp(terminal, "dumb");
	struct winsize size;

	if (!isatty(fd))
		return style;
	style.has_color = !is_dumb && (!no_color || !*no_color);
	if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col)
		style.width = size.ws_col < 160 ? size.ws_col : 160;
	return style;
}
