/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Three processes of one name, each of which says on its command line which part it is, as servers do. What they
 * overwrite must be long enough: give them a long argument.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void serve(void)
{
	for (;;)
		usleep(1000);
}

int main(int argc, char **argv)
{
	char *end = argv[argc - 1] + strlen(argv[argc - 1]);

	for (int i = 0; i < 3; i++) {
		if (fork())
			continue;
		memset(argv[0], 0, end - argv[0]);
		snprintf(argv[0], end - argv[0], "server: part\t%d", i);
		serve();
	}
	puts("ready");
	fflush(stdout);
	serve();
}
