/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/capabilities.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/size_signal.h"
#include "options/command.h"

int main(int argc, char **argv)
{
	const struct command *command;
	int status;

	size_signal_ignore();
	setlocale(LC_CTYPE, "");
	if (argc < 2) {
		help_command.run(0, NULL);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		printf("pinch %s\n", PINCH_VERSION);
		return 0;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
		return help_command.run(0, NULL);
	command = command_find(argv[1]);
	if (!command) {
		fail_plain(-1, "there is no command '%s'; to trace a program: pinch run -- PROGRAM", argv[1]);
		return EXIT_USAGE;
	}
	/* A binary with capabilities lends them to what needs them, not to who reads a trace or draws a graph with
	 * libraries that the environment may lead astray. Root needs its own to open others' files. */
	if (!command->is_privileged && geteuid() && capabilities_drop()) {
		fail_plain(-1, "cannot drop the capabilities of this binary");
		return EXIT_FAILED;
	}
	clock_begin(); /* who traces asks again whether that failed */
	status = command->run(argc - 1, argv + 1);
	if (fflush(stdout) && !status) {
		fail(-1, "cannot write to standard output");
		status = EXIT_FAILED;
	}
	return status;
}
