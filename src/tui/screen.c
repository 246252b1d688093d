/* SPDX-License-Identifier: GPL-2.0-or-later */
#define NCURSES_WIDECHAR 1
#include "tui/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#include "base/fail.h"
#include "tui/terminal/keys.h"
#include "tui/terminal/line.h"
#include "tui/terminal/mouse.h"
#include "tui/terminal/terminfo.h"
#include "tui/ui.h"

enum {
	PAIR_RED = 1,
	PAIR_YELLOW,
	PAIR_GREEN,
	PAIR_CYAN,
	PAIR_BLUE,
	PAIR_MAGENTA,
	ESCAPE_MS = 25,
	RESTORE_BYTES_MAX = 256
};

/* A terminal can say of itself what it likes, and each place of its screen takes memory. */
enum { COLUMNS_MAX = 1000, LINES_MAX = 500 };

static const int crashes[] = { SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL };

/* What the terminal says of the mouse, as far as it has come. */
struct mouse_report {
	char bytes[MOUSE_REPORT_BYTES_MAX + 1];
	size_t length;
	bool is_open;
};

/* One for the process, as the terminal is. */
static struct {
	bool is_open, has_color, has_mouse;
	pid_t owner; /* children that we fork must not touch it */
	SCREEN *screen;
	struct mouse_report report;
	struct termios before;
	char restore[RESTORE_BYTES_MAX]; /* what undoes it, for a crash */
	size_t restore_bytes;
} terminal;

int screen_check(void)
{
	const char *type = getenv("TERM");

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return fail_plain(-ENOTTY, "--tui needs a terminal as standard %s",
				  isatty(STDIN_FILENO) ? "output" : "input");
	if (!type || !*type)
		return fail_plain(-ENOTTY, "--tui needs to know the terminal: TERM is not set");
	switch (terminfo_check(STDOUT_FILENO)) {
	case TERMINFO_NO_TYPE:
		return fail_plain(-ENOTTY, "--tui does not know the terminal type in TERM, '%s'", type);
	case TERMINFO_NO_CURSOR:
		return fail_plain(-ENOTTY, "--tui cannot draw on the terminal type in TERM, '%s'", type);
	case TERMINFO_FINE:
		break;
	}
	return 0;
}

bool screen_has_unicode(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *value = getenv(names[i]);

		if (!value || !*value)
			continue;
		/* A locale that is not installed leaves the process in "C". */
		if ((strcasestr(value, "UTF-8") || strcasestr(value, "UTF8")) &&
		    strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
			setlocale(LC_CTYPE, "C.UTF-8");
		break;
	}
	return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static void add_restore_bytes(const char *string)
{
	size_t length = string ? strlen(string) : 0;

	if (terminal.restore_bytes + length > sizeof(terminal.restore))
		return;
	memcpy(terminal.restore + terminal.restore_bytes, string ?: "", length);
	terminal.restore_bytes += length;
}

static void add_restore(const char *name)
{
	add_restore_bytes(terminfo_string(name));
}

/* Calls nothing that is not safe in a signal's handler. */
static void on_crash(int number)
{
	ssize_t n;

	if (terminal.is_open && terminal.owner == getpid()) {
		n = write(STDOUT_FILENO, terminal.restore, terminal.restore_bytes);
		(void)n;
		tcsetattr(STDOUT_FILENO, TCSANOW, &terminal.before);
	}
	raise(number); /* with its default action again */
}

static void on_exit_close(void)
{
	screen_close();
}

static void catch_crashes(void)
{
	struct sigaction action = { .sa_handler = on_crash, .sa_flags = SA_RESETHAND | SA_NODEFER };

	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		sigaction(crashes[i], &action, NULL);
}

static void let_crashes(void)
{
	for (size_t i = 0; i < sizeof(crashes) / sizeof(*crashes); i++)
		signal(crashes[i], SIG_DFL);
}

/*
 * Ctrl-C and Ctrl-Z stay signals, which the command of `pinch run` gets as well; Ctrl-S stops nobody.
 */
static void set_modes(void)
{
	struct termios modes;

	cbreak();
	noecho();
	nonl();
	if (!tcgetattr(STDIN_FILENO, &modes)) {
		modes.c_iflag &= ~(tcflag_t)(IXON | IXOFF);
		tcsetattr(STDIN_FILENO, TCSANOW, &modes);
		def_prog_mode(); /* for when it comes back after endwin() */
	}
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	typeahead(-1);
	curs_set(0);
}

/* By ourselves, for ncurses would wait for the rest of a report that does not come. */
static void switch_mouse(bool is_on)
{
	const char *string = is_on ? MOUSE_ON : MOUSE_OFF;
	ssize_t n = 0;

	if (terminal.has_mouse)
		n = write(STDOUT_FILENO, string, strlen(string));
	(void)n;
}

static void begin_colors(void)
{
	const char *no_color = getenv("NO_COLOR");

	terminal.has_color = (!no_color || !*no_color) && has_colors();
	if (!terminal.has_color)
		return;
	start_color();
	use_default_colors();
	init_pair(PAIR_RED, COLOR_RED, -1);
	init_pair(PAIR_YELLOW, COLOR_YELLOW, -1);
	init_pair(PAIR_GREEN, COLOR_GREEN, -1);
	init_pair(PAIR_CYAN, COLOR_CYAN, -1);
	init_pair(PAIR_BLUE, COLOR_BLUE, -1);
	init_pair(PAIR_MAGENTA, COLOR_MAGENTA, -1);
}

int screen_open(void)
{
	static bool is_registered;

	/* That of the terminal's type, whatever LINES and COLUMNS say; then screen_resize() asks. */
	use_env(FALSE);
	use_tioctl(FALSE);
	if (tcgetattr(STDOUT_FILENO, &terminal.before))
		return fail(-errno, "cannot read the terminal settings");
	terminal.screen = newterm(NULL, stdout, stdin);
	if (!terminal.screen)
		return fail_plain(-ENOTTY, "cannot draw on the terminal");
	set_escdelay(ESCAPE_MS);
	terminal.owner = getpid();
	terminal.restore_bytes = 0;
	add_restore("sgr0");
	add_restore("cnorm");
	add_restore("rmkx");
	add_restore("rmcup");
	terminal.has_mouse = terminfo_string("kmous") != NULL;
	if (terminal.has_mouse)
		add_restore_bytes(MOUSE_OFF);
	terminal.is_open = true;
	catch_crashes();
	if (!is_registered)
		atexit(on_exit_close);
	is_registered = true;
	set_modes();
	switch_mouse(true);
	begin_colors();
	return 0;
}

void screen_close(void)
{
	if (!terminal.is_open || terminal.owner != getpid())
		return;
	terminal.is_open = false;
	switch_mouse(false);
	endwin();
	delscreen(terminal.screen);
	let_crashes();
	tcsetattr(STDOUT_FILENO, TCSANOW, &terminal.before);
}

void screen_suspend(void)
{
	switch_mouse(false);
	endwin();
	tcsetattr(STDOUT_FILENO, TCSANOW, &terminal.before);
}

void screen_resume(void)
{
	switch_mouse(true);
	clearok(curscr, TRUE);
	refresh();
}

void screen_resize(uint32_t *columns, uint32_t *lines)
{
	struct winsize size;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col && size.ws_row) {
		int wide = size.ws_col < COLUMNS_MAX ? size.ws_col : COLUMNS_MAX;
		int high = size.ws_row < LINES_MAX ? size.ws_row : LINES_MAX;

		if (wide != COLS || high != LINES)
			resizeterm(high, wide);
	}
	*columns = COLS;
	*lines = LINES;
}

static uint32_t key_of(wint_t key)
{
	static const struct {
		wint_t key;
		uint32_t code;
	} keys[] = {
		{ KEY_UP, KEY_CODE_UP },
		{ KEY_DOWN, KEY_CODE_DOWN },
		{ KEY_LEFT, KEY_CODE_LEFT },
		{ KEY_RIGHT, KEY_CODE_RIGHT },
		{ KEY_PPAGE, KEY_CODE_PAGE_UP },
		{ KEY_NPAGE, KEY_CODE_PAGE_DOWN },
		{ KEY_HOME, KEY_CODE_HOME },
		{ KEY_END, KEY_CODE_END },
		{ KEY_FIND, KEY_CODE_HOME },
		{ KEY_SELECT, KEY_CODE_END },
		{ KEY_BACKSPACE, KEY_CODE_BACKSPACE },
		{ KEY_ENTER, KEY_CODE_ENTER },
		{ KEY_BTAB, KEY_CODE_BACK_TAB },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		if (keys[i].key == key)
			return keys[i].code;
	return KEY_CODE_OTHER;
}

static void unread(int got, wint_t c)
{
	if (got == OK)
		unget_wch((wchar_t)c);
	else
		ungetch((int)c);
}

/* What stands behind "\033[<". What is not there yet is not waited for: the next call goes on. */
static uint32_t read_mouse(struct mouse_place *place)
{
	struct mouse_report *report = &terminal.report;
	wint_t c;
	int got;

	report->is_open = true;
	while ((got = get_wch(&c)) == OK && report->length < MOUSE_REPORT_BYTES_MAX &&
	       wcschr(L"0123456789;Mm", (wchar_t)c)) {
		report->bytes[report->length++] = (char)c;
		if (c != 'M' && c != 'm')
			continue;
		report->bytes[report->length] = '\0';
		report->is_open = false;
		report->length = 0;
		return mouse_key(report->bytes, place);
	}
	if (got == ERR)
		return 0;
	unread(got, c);
	report->is_open = false;
	report->length = 0;
	return KEY_CODE_OTHER;
}

/* The key alone, or what the terminal says of the mouse. */
static uint32_t read_escape(struct mouse_place *place)
{
	wint_t c;
	int got = get_wch(&c);

	if (got == OK && c == '[')
		return get_wch(&c) == OK && c == '<' ? read_mouse(place) : KEY_CODE_OTHER;
	if (got != ERR)
		unread(got, c);
	return KEY_CODE_ESCAPE;
}

uint32_t screen_read_key(struct mouse_place *place)
{
	wint_t key;

	if (terminal.report.is_open)
		return read_mouse(place);
	switch (get_wch(&key)) {
	case KEY_CODE_YES:
		/* Of some types of terminals, the beginning of what it says of the mouse is a key. */
		return key == KEY_MOUSE ? read_mouse(place) : key_of(key);
	case OK:
		if (key == KEY_CODE_ESCAPE)
			return read_escape(place);
		return key && key < KEY_CODE_FIRST ? key : KEY_CODE_OTHER;
	}
	return 0;
}

static attr_t attributes_of(enum page_color color)
{
	static const short pairs[] = {
		[PAGE_RED] = PAIR_RED,   [PAGE_YELLOW] = PAIR_YELLOW, [PAGE_GREEN] = PAIR_GREEN,
		[PAGE_CYAN] = PAIR_CYAN, [PAGE_BLUE] = PAIR_BLUE,     [PAGE_MAGENTA] = PAIR_MAGENTA,
	};

	switch (color) {
	case PAGE_BOLD:
		return A_BOLD;
	case PAGE_DIM:
		return A_DIM;
	default:
		return terminal.has_color && pairs[color] ? COLOR_PAIR(pairs[color]) : A_NORMAL;
	}
}

static attr_t look_attributes(enum ui_look look)
{
	switch (look) {
	case LOOK_CURSOR:
	case LOOK_BAR:
		return A_REVERSE;
	case LOOK_TITLES:
		return A_UNDERLINE;
	case LOOK_PLAIN:
		break;
	}
	return A_NORMAL;
}

/* What the locale has no width for is no character that a terminal could be trusted with. */
static void put_piece(const char *bytes, size_t length)
{
	mbstate_t state = { 0 };

	while (length) {
		wchar_t c;
		size_t step = mbrtowc(&c, bytes, length, &state);

		if (!step || step > length) {
			state = (mbstate_t){ 0 };
			step = 1;
			c = L'?';
		}
		if (wcwidth(c) < 0)
			c = L'?';
		addnwstr(&c, 1);
		bytes += step;
		length -= step;
	}
}

static void draw_line(int y, const struct ui_line *line)
{
	struct line_walk walk = { line->text.bytes, PAGE_PLAIN };
	attr_t look = look_attributes(line->look);
	const char *bytes;
	size_t length;

	move(y, 0);
	while (line_next(&walk, &bytes, &length)) {
		attrset(look | attributes_of(walk.color));
		put_piece(bytes, length);
	}
	attrset(look);
	for (uint32_t column = line_columns(line->text.bytes); column < (uint32_t)COLS; column++)
		addch(' ');
	attrset(A_NORMAL);
}

void screen_draw(const struct ui_line *lines, size_t count, bool is_anew)
{
	struct pollfd output = { .fd = STDOUT_FILENO, .events = POLLOUT };

	for (size_t i = 0; i < count && i < (size_t)LINES; i++)
		draw_line((int)i, &lines[i]);
	/* A terminal that takes nothing would stop the tracing: it gets the next picture. */
	if (poll(&output, 1, 0) != 1 || !(output.revents & POLLOUT))
		return;
	if (is_anew)
		clearok(curscr, TRUE);
	refresh();
}
