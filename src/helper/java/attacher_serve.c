/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "helper/java/attacher.h"
#include "helper/confine.h"
#include "helper/java/java_process.h"
#include "helper/java/java_question.h"
#include "helper/message.h"
#include "helper/spawner.h"

static const uint64_t limit_ns = 3000000000;

/* --- The process of a question -------------------------------------------------------------- */

/* From here on, what is made and reached is what the process's user could make and reach. */
static bool become_user(const struct jit_place *place)
{
	bool is_other = geteuid() != place->uid || getegid() != place->gid;

	if (is_other && (setgroups(0, NULL) || setresgid(place->gid, place->gid, place->gid) ||
			 setresuid(place->uid, place->uid, place->uid)))
		return false;
	return !confine_capabilities(NULL, 0);
}

static enum java_result ask(uint32_t pid)
{
	struct java_process process;
	enum java_result result = java_process_open(pid, &process);

	if (result != JAVA_WRITTEN)
		return result;
	result = become_user(&process.place) ? java_question_ask(&process, limit_ns) : JAVA_USER;
	java_process_close(&process);
	return result;
}

/* --- The process that has them asked --------------------------------------------------------- */

static int confine(void)
{
	static const int kept[] = { CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_SETUID, CAP_SETGID };
	/* clang-format off */
	static const struct confined_call allowed[] = {
		/* To examine a process. */
		ALLOWED(pidfd_open), ALLOWED(read), ALLOWED(pread64), ALLOWED(close), ALLOWED(lseek),
		ALLOWED_IF(openat, 2, O_ACCMODE, O_RDONLY), ALLOWED_IF(open, 1, O_ACCMODE, O_RDONLY), ALLOWED(openat2),
		ALLOWED(fstat), ALLOWED(newfstatat), ALLOWED(statx),
		/* To become its user. */
		ALLOWED(setgroups), ALLOWED(setresgid), ALLOWED(setresuid), ALLOWED(capget), ALLOWED(capset),
		ALLOWED(geteuid), ALLOWED(getegid), ALLOWED(prctl),
		/* To ask it. */
		ALLOWED(fchdir), ALLOWED_IF(openat, 2, O_ACCMODE | O_CREAT | O_EXCL, O_WRONLY | O_CREAT | O_EXCL),
		ALLOWED(unlink), ALLOWED(pidfd_send_signal), ALLOWED_IF(socket, 0, CONFINED_INT, AF_UNIX),
		ALLOWED(connect), ALLOWED(getsockopt), ALLOWED(recvfrom), ALLOWED(sendto),
		ALLOWED(poll), ALLOWED(ppoll),
		/* To be asked, and have it done by another process, but in no namespace of its own. */
		ALLOWED(recvmsg), ALLOWED(sendmsg), ALLOWED_IF(clone, 0, ~(unsigned long)(CLONE_CHILD_CLEARTID | CLONE_CHILD_SETTID), SIGCHLD),
		ALLOWED(set_robust_list), ALLOWED(rt_sigprocmask),
		ALLOWED(brk), ALLOWED(mremap), ALLOWED(munmap), ALLOWED(madvise),
		ALLOWED_IF(mmap, 3, MAP_ANONYMOUS, MAP_ANONYMOUS), ALLOWED(futex), ALLOWED(getpid), ALLOWED(gettid),
		ALLOWED(rt_sigreturn), ALLOWED(restart_syscall), ALLOWED(getrandom), ALLOWED(clock_gettime),
		ALLOWED(exit), ALLOWED(exit_group),
	};
	/* clang-format on */
	int err = confine_basics();

	if (!err)
		err = confine_capabilities(kept, sizeof(kept) / sizeof(*kept));
	return err ? err : confine_to_calls(allowed, sizeof(allowed) / sizeof(*allowed));
}

static void answer(int tool, uint32_t pid)
{
	struct java_answer answer = { .pid = pid, .result = ask(pid) };

	message_put(tool, &answer, sizeof(answer), -1);
}

void attacher_serve(const struct helper_sockets *sockets)
{
	uint32_t pid;
	int fd, err;

	prctl(PR_SET_NAME, ATTACHER_NAME);
	signal(SIGCHLD, SIG_IGN);
	err = confine();
	if (err)
		helper_refuse(sockets, err);
	while (message_get(sockets->tool, &pid, sizeof(pid), &fd) == sizeof(pid)) {
		pid_t asking = fork();

		if (!asking)
			answer(sockets->tool, pid);
		if (asking < 0)
			message_put(sockets->tool, &(struct java_answer){ pid, JAVA_SILENT },
				    sizeof(struct java_answer), -1);
		if (!asking)
			break;
	}
	_exit(0);
}
