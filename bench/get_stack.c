// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * get_stack FILE COMMAND [ARG…]: runs a command while get_stack.bpf.c examines its stacks, and
 * writes as JSON how many it took, their frames, and what they took; and what a run of a program
 * that does nothing took, as the kernel counts it (kernel.bpf_stats_enabled). The exit status is
 * the command's.
 */
#include <bpf/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/get_stack.skel.h"

static void die(const char *what)
{
	perror(what);
	exit(125);
}

/* A process that becomes the command when a byte comes. */
static pid_t start(char **command, int *go)
{
	int fds[2];
	char byte;
	pid_t pid;

	if (pipe(fds))
		die("pipe");
	pid = fork();
	if (pid < 0)
		die("fork");
	if (pid) {
		close(fds[0]);
		*go = fds[1];
		return pid;
	}
	close(fds[1]);
	if (read(fds[0], &byte, 1) == 1)
		execvp(command[0], command);
	_exit(127);
}

static struct bpf_prog_info info_of(const struct bpf_program *program)
{
	struct bpf_prog_info info = { 0 };
	uint32_t size_bytes = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size_bytes))
		die("info");
	return info;
}

int main(int argc, char **argv)
{
	struct get_stack_bpf *bpf;
	struct bpf_prog_info nothing;
	int go, status;
	FILE *file;
	pid_t pid;

	if (argc < 3) {
		fprintf(stderr, "usage: get_stack FILE COMMAND [ARG...]\n");
		return 2;
	}
	pid = start(argv + 2, &go);
	bpf = get_stack_bpf__open();
	if (!bpf)
		die("open");
	bpf->rodata->target = pid;
	if (get_stack_bpf__load(bpf) || get_stack_bpf__attach(bpf))
		die("load");
	if (write(go, "", 1) != 1 || waitpid(pid, &status, 0) != pid)
		die("run");
	nothing = info_of(bpf->progs.nothing);
	file = fopen(argv[1], "w");
	if (!file)
		die(argv[1]);
	fprintf(file,
		"{\"taken\": %llu, \"frames\": %llu, \"ns\": %llu, "
		"\"nothing\": {\"runs\": %llu, \"ns\": %llu}}\n",
		bpf->bss->taken, bpf->bss->frame_count, bpf->bss->spent_ns, nothing.run_cnt, nothing.run_time_ns);
	if (fclose(file))
		die(argv[1]);
	get_stack_bpf__destroy(bpf);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}
