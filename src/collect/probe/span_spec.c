/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/probe/span_spec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/memory.h"
#include "base/text.h"
#include "own/own_span.h"
#include "session/syscalls.h"

enum { TEXT_BYTES_MAX = 1024, NAME_BYTES_MAX = 64, FD_MAX = 1 << 20 };

static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

bool span_call_makes_fd(uint32_t syscall)
{
	switch (syscall) {
	case SYS_accept:
	case SYS_accept4:
	case SYS_open:
	case SYS_openat:
	case SYS_openat2:
	case SYS_creat:
	case SYS_socket:
	case SYS_epoll_create:
	case SYS_epoll_create1:
	case SYS_eventfd2:
	case SYS_timerfd_create:
	case SYS_dup:
	case SYS_dup2:
	case SYS_dup3:
		return true;
	}
	return false;
}

uint32_t span_call_least(uint32_t syscall)
{
	switch (syscall) {
	case SYS_read:
	case SYS_readv:
	case SYS_pread64:
	case SYS_preadv:
	case SYS_preadv2:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_mq_timedreceive:
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
	case SYS_epoll_pwait2:
	case SYS_poll:
	case SYS_ppoll:
	case SYS_select:
	case SYS_pselect6:
		return 1;
	}
	return 0;
}

/* As its first argument. */
static bool takes_fd(uint32_t syscall)
{
	switch (syscall_argument(syscall)) {
	case ARGUMENT_FILE:
	case ARGUMENT_FILE_PARTS:
	case ARGUMENT_FILE_MESSAGE:
		return true;
	default:
		return false;
	}
}

static int find_syscall(const char *name, uint32_t *syscall)
{
	for (uint32_t number = 0; number < SYSCALLS_MAX; number++) {
		const char *known = syscall_name(number);

		if (known && !strcmp(known, name)) {
			*syscall = number;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_fd(const char *value, struct span_side *side)
{
	unsigned long number;
	char *end;

	if (!strcmp(value, "socket"))
		side->file_kind = S_IFSOCK >> 12;
	else if (!strcmp(value, "pipe"))
		side->file_kind = S_IFIFO >> 12;
	else if (!strcmp(value, "file"))
		side->file_kind = S_IFREG >> 12;
	else if (!strcmp(value, "same"))
		side->is_same_fd = true;
	else {
		number = strtoul(value, &end, 10);
		if (*value < '0' || *value > '9' || *end || number >= FD_MAX)
			return -EINVAL;
		side->fd = number;
	}
	return 0;
}

static int parse_condition(char *condition, bool is_end, struct span_side *side, struct text *why)
{
	if (strncmp(condition, "fd=", 3) || parse_fd(condition + 3, side)) {
		text_printf(why,
			    "'%s' is not a condition: fd=socket, fd=pipe, fd=file, fd=NUMBER or, for the second call, "
			    "fd=same",
			    condition);
		return -EINVAL;
	}
	if (side->is_same_fd && !is_end) {
		text_put(why, "fd=same is for the second call: the descriptor of the first one");
		return -EINVAL;
	}
	return 0;
}

/* "recvfrom" or "recvfrom(fd=socket)" */
static int parse_side(char *call, bool is_end, struct span_side *side, struct text *why)
{
	char *open = strchr(call, '('), *next, *end;
	int err = 0;

	*side = (struct span_side){ .fd = SPAN_FD_ANY };
	if (open) {
		end = call + strlen(call) - 1;
		if (*end != ')') {
			text_printf(why, "'%s' lacks its ')'", call);
			return -EINVAL;
		}
		*open = *end = '\0';
	}
	if (find_syscall(call, &side->syscall)) {
		text_printf(why, "unknown system call '%s'", call);
		return -EINVAL;
	}
	for (char *condition = open ? open + 1 : NULL; condition && !err; condition = next) {
		next = strchr(condition, ',');
		if (next)
			*next++ = '\0';
		err = parse_condition(condition, is_end, side, why);
	}
	if (!err && open && !takes_fd(side->syscall) && (is_end || !span_call_makes_fd(side->syscall))) {
		text_printf(why, "%s has no descriptor%s", call,
			    span_call_makes_fd(side->syscall) ? " when it is called" : "");
		err = -EINVAL;
	}
	return err;
}

static int parse_calls(char *text, char *second, struct span_spec *spec, struct text *why)
{
	struct span_side *sides = spec->sides;
	int err;

	*second = '\0';
	second += 2;
	err = parse_side(text, false, &sides[0], why);
	if (!err)
		err = parse_side(second, true, &sides[1], why);
	if (err)
		return err;
	if (sides[1].syscall == SYS_close && sides[1].fd == SPAN_FD_ANY &&
	    (takes_fd(sides[0].syscall) || span_call_makes_fd(sides[0].syscall)))
		sides[1].is_same_fd = true;
	if (sides[1].is_same_fd && !takes_fd(sides[0].syscall) && !span_call_makes_fd(sides[0].syscall)) {
		text_printf(why, "%s has no descriptor that fd=same could refer to", text);
		return -EINVAL;
	}
	return 0;
}

/* "mariadbd:dispatch_command", "/usr/lib/libx.so:ns::f"; a path has no colon. */
static int parse_function(char *text, char *colon, struct span_spec *spec, struct text *why)
{
	*colon = '\0';
	if (!*text || !colon[1]) {
		text_put(why, "a function is given as FILE:FUNCTION, such as mariadbd:dispatch_command");
		return -EINVAL;
	}
	spec->kind = SPAN_OF_FUNCTION;
	spec->file = xstrdup(text);
	spec->function = xstrdup(colon + 1);
	return 0;
}

/* It is read again where events are: of what is recorded only the text is needed. */
static int parse_events(const char *text, struct span_spec *spec, struct text *why)
{
	struct own_span span;
	int err = own_span_parse(text, &span, why);

	if (!err)
		own_span_fini(&span);
	spec->kind = SPAN_OF_EVENTS;
	return err;
}

static int parse(char *text, struct span_spec *spec, struct text *why)
{
	char *colon = strchr(text, ':'), *dots = strstr(text, "..");

	if (own_span_is_meant(text))
		return parse_events(text, spec, why);
	if (colon)
		return parse_function(text, colon, spec, why);
	if (dots)
		return parse_calls(text, dots, spec, why);
	text_put(why, "neither CALL..CALL, such as accept4..close, nor FILE:FUNCTION, such as "
		      "mariadbd:dispatch_command, nor SUBSYSTEM:EVENT..EVENT");
	return -EINVAL;
}

static void spec_fini(struct span_spec *spec)
{
	free(spec->name);
	free(spec->text);
	free(spec->file);
	free(spec->function);
}

/* "NAME=" in front; 0: there is none. */
static size_t name_bytes(const char *argument)
{
	size_t length = strspn(argument, letters);

	return argument[length] == '=' ? length : 0;
}

static int check(const struct span_specs *specs, const char *argument, size_t named, struct text *why)
{
	if (specs->count == SPANS_MAX)
		text_printf(why, "at most %d can be given", SPANS_MAX);
	else if (strlen(argument) > TEXT_BYTES_MAX || named > NAME_BYTES_MAX)
		text_printf(why, "a span has at most %d characters, its name at most %d", TEXT_BYTES_MAX,
			    NAME_BYTES_MAX);
	else
		return 0;
	return -EINVAL;
}

int span_specs_add(struct span_specs *specs, const char *argument, struct text *why)
{
	size_t named = name_bytes(argument);
	const char *text = named ? argument + named + 1 : argument;
	struct span_spec spec = { 0 };
	char *parsed;
	int err = check(specs, argument, named, why);

	if (err)
		return err;
	spec.text = xstrdup(text);
	spec.name = xstrdup(named ? argument : text);
	if (named)
		spec.name[named] = '\0';
	parsed = xstrdup(text);
	err = parse(parsed, &spec, why);
	free(parsed);
	for (size_t i = 0; i < specs->count && !err; i++)
		if (!strcmp(specs->list[i].name, spec.name)) {
			text_printf(why, "another span is called %s: give this one a name, as in NAME=%s", spec.name,
				    spec.text);
			err = -EINVAL;
		}
	if (err)
		spec_fini(&spec);
	else
		specs->list[specs->count++] = spec;
	return err;
}

void span_specs_fini(struct span_specs *specs)
{
	while (specs->count)
		spec_fini(&specs->list[--specs->count]);
}

bool span_specs_have(const struct span_specs *specs, enum span_kind kind)
{
	for (size_t i = 0; i < specs->count; i++)
		if (specs->list[i].kind == kind)
			return true;
	return false;
}
