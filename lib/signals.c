/* SPDX-License-Identifier: BSD-2-Clause */
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "environment.h"
#include "pinchtrace.h"
#include "triggers.h"

/* Takes the signal, unless somebody else has. */
static void take(int number, void (*handler)(int number, siginfo_t *info, void *context), int flags)
{
	struct sigaction action, old;

	if (sigaction(number, NULL, &old) || (old.sa_flags & SA_SIGINFO) || old.sa_handler != SIG_DFL)
		return;
	memset(&action, 0, sizeof(action));
	sigemptyset(&action.sa_mask);
	action.sa_flags = SA_SIGINFO | flags;
	action.sa_sigaction = handler;
	sigaction(number, &action, NULL);
}

/* --- Signals that do something ----------------------------------------------------------- */

static void on_start_signal(int number, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	(void)number, (void)info, (void)context;
	pinchtrace_triggers_start();
	errno = saved_errno;
}

static void on_stop_signal(int number, siginfo_t *info, void *context)
{
	int saved_errno = errno;

	(void)number, (void)info, (void)context;
	pinchtrace_triggers_stop();
	errno = saved_errno;
}

static void on_snapshot_signal(int number, siginfo_t *info, void *context)
{
	(void)number, (void)info, (void)context;
	pinchtrace_flush();
}

/* "USR1", "SIGUSR1", or a number; 0: none that a program may use for itself. */
static int number_of(const char *word, size_t size)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {
		{ "USR1", SIGUSR1 },   { "USR2", SIGUSR2 }, { "HUP", SIGHUP },
		{ "WINCH", SIGWINCH }, { "URG", SIGURG },   { "IO", SIGIO },
	};
	char text[16];
	char *end;
	int number;
	size_t i;

	if (size >= sizeof(text))
		return 0;
	memcpy(text, word, size);
	text[size] = '\0';
	if (strncmp(text, "SIG", 3) == 0)
		memmove(text, text + 3, size - 2);
	for (i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (strcmp(text, signals[i].name) == 0)
			return signals[i].number;
	number = (int)strtol(text, &end, 10);
	return end > text && !*end && number >= SIGRTMIN && number <= SIGRTMAX ? number : 0;
}

/* What is not "SIGNAL:ACTION" is left out. */
static void take_signal(const char *begin, const char *end)
{
	static const struct {
		const char *name;
		void (*handler)(int number, siginfo_t *info, void *context);
	} actions[] = {
		{ "start", on_start_signal },
		{ "stop", on_stop_signal },
		{ "snapshot", on_snapshot_signal },
	};
	const char *colon = memchr(begin, ':', (size_t)(end - begin));
	int number = colon ? number_of(begin, (size_t)(colon - begin)) : 0;
	size_t i, size = colon ? (size_t)(end - colon - 1) : 0;

	for (i = 0; number && i < sizeof(actions) / sizeof(*actions); i++)
		if (strlen(actions[i].name) == size && memcmp(colon + 1, actions[i].name, size) == 0)
			take(number, actions[i].handler, SA_RESTART);
}

/* --- Crashes ----------------------------------------------------------------------------- */

static void on_crash(int number, siginfo_t *info, void *context)
{
	(void)context;
	pinchtrace_flush();
	/* What the kernel found wrong, it finds again; what was sent does not come again by itself. */
	if (info->si_code <= 0)
		raise(number);
}

void pinchtrace_signals_start(void)
{
	static const int crashes[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	const char *list = pinchtrace_environment.signals, *end;
	size_t i;

	for (; *list; list = *end ? end + 1 : end) {
		end = list + strcspn(list, ",");
		take_signal(list, end);
	}
	for (i = 0; pinchtrace_environment.flushes_on_crash && i < sizeof(crashes) / sizeof(*crashes); i++)
		take(crashes[i], on_crash, SA_RESETHAND | SA_ONSTACK);
}
