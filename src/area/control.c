/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "area/control.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "area/header.h"
#include "base/memory.h"

/* So often it is tried to be the only one who makes a request, with a millisecond between. */
#define LOCK_TRIES 200

static int write_bytes(int fd, const void *bytes, size_t size_bytes, uint64_t offset)
{
	ssize_t count;

	do {
		count = pwrite(fd, bytes, size_bytes, offset);
	} while (count < 0 && errno == EINTR);
	if (count < 0)
		return -errno;
	return (size_t)count == size_bytes ? 0 : -EIO;
}

/* --- Requests ---------------------------------------------------------------------------- */

static int lock(int fd)
{
	static const struct timespec pause = { .tv_nsec = 1000000 };
	int i;

	for (i = 0; i < LOCK_TRIES; i++) {
		if (!flock(fd, LOCK_EX | LOCK_NB))
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return -EBUSY;
}

/* The request before the state that says so: who sees that sees the request. */
static int write_request(int fd, const struct pinchtrace_header *header, const struct pinchtrace_request *request)
{
	uint64_t at = header->control_offset;
	uint8_t state;
	int err = area_read(fd, &state, sizeof(state), at + offsetof(struct pinchtrace_control, state));

	if (err)
		return err;
	state = ((state & ~PINCHTRACE_PHASE_MASK) + PINCHTRACE_PHASE_MASK + 1) | PINCHTRACE_PHASE_REQUEST;
	err = write_bytes(fd, request, sizeof(*request), at + offsetof(struct pinchtrace_control, request));
	if (!err)
		err = write_bytes(fd, &state, sizeof(state), at + offsetof(struct pinchtrace_control, state));
	return err;
}

static int make_request(int fd, const struct pinchtrace_request *request)
{
	struct pinchtrace_header header;
	int err = area_header_read(fd, &header);

	if (!err)
		err = lock(fd);
	if (err)
		return err;
	err = write_request(fd, &header, request);
	flock(fd, LOCK_UN);
	return err;
}

int area_control_clear(int fd)
{
	struct pinchtrace_request request = { .what = PINCHTRACE_REQUEST_CLEAR };

	return make_request(fd, &request);
}

int area_control_start(int fd)
{
	struct pinchtrace_request request = { .what = PINCHTRACE_REQUEST_START };

	return make_request(fd, &request);
}

int area_control_stop(int fd)
{
	struct pinchtrace_request request = { .what = PINCHTRACE_REQUEST_STOP };

	return make_request(fd, &request);
}

/* --- Switches ---------------------------------------------------------------------------- */

static int change_switch(int fd, uint16_t subsystem, uint8_t clear, uint8_t set)
{
	struct pinchtrace_header header;
	uint8_t old, byte;
	int err = area_header_read(fd, &header);

	if (!err)
		err = area_read(fd, &old, sizeof(old), header.switches_offset + subsystem);
	if (err)
		return err;
	byte = (old & ~clear) | set;
	return byte == old ? 0 : write_bytes(fd, &byte, sizeof(byte), header.switches_offset + subsystem);
}

int area_control_switch(int fd, uint16_t subsystem, bool is_on)
{
	return change_switch(fd, subsystem, PINCHTRACE_ON_RECORD, is_on ? PINCHTRACE_ON_RECORD : 0);
}

int area_control_switch_all(int fd, bool is_on)
{
	struct pinchtrace_header header;
	unsigned char *switches;
	int err = area_header_read(fd, &header);

	if (err)
		return err;
	switches = xcalloc(PINCHTRACE_SUBSYSTEMS, 1);
	err = area_read(fd, switches, PINCHTRACE_SUBSYSTEMS, header.switches_offset);
	for (uint32_t i = 0; i < PINCHTRACE_SUBSYSTEMS; i++)
		switches[i] = (switches[i] & ~PINCHTRACE_ON_RECORD) | (is_on ? PINCHTRACE_ON_RECORD : 0);
	if (!err)
		err = write_bytes(fd, switches, PINCHTRACE_SUBSYSTEMS, header.switches_offset);
	free(switches);
	return err;
}

int area_control_set(int fd, const struct area_triggers *triggers)
{
	struct pinchtrace_request request = {
		.what = PINCHTRACE_REQUEST_SET,
		.mode = triggers->mode,
		.start = triggers->start,
		.stop = triggers->stop,
		.duration_ns = triggers->duration_ns,
		.count = triggers->count,
	};
	int err = make_request(fd, &request);

	/* An event of a subsystem that is off carries nothing out. Those of others mark the stop event's. */
	if (!err && (triggers->start & 0xffff) != (PINCHTRACE_NO_EVENT & 0xffff))
		err = change_switch(fd, triggers->start & 0xffff, 0, PINCHTRACE_ON_TRIGGER);
	return err;
}

int area_control_scope(int fd, uint64_t until_ns)
{
	struct pinchtrace_header header;
	int err = area_header_read(fd, &header);

	if (err)
		return err;
	if (until_ns)
		until_ns += (uint64_t)header.shift_ns;
	return write_bytes(fd, &until_ns, sizeof(until_ns), offsetof(struct pinchtrace_header, scope_until_ns));
}

/* --- What there is ----------------------------------------------------------------------- */

static void take_triggers(struct area_control *out, const struct pinchtrace_control *control)
{
	const struct pinchtrace_request *request = &control->request;

	out->phase = control->state & PINCHTRACE_PHASE_MASK;
	out->start_count = control->start_count;
	out->triggers = (struct area_triggers){ control->start, control->stop, control->duration_ns, control->count,
						control->mode };
	if (out->phase == PINCHTRACE_PHASE_REQUEST && request->what == PINCHTRACE_REQUEST_SET)
		out->triggers = (struct area_triggers){ request->start, request->stop, request->duration_ns,
							request->count, request->mode };
}

int area_control_read(int fd, struct area_control *control)
{
	struct pinchtrace_control read;
	struct pinchtrace_header header;
	int err = area_header_read(fd, &header);

	if (!err)
		err = area_read(fd, &read, sizeof(read), header.control_offset);
	if (!err)
		err = area_read(fd, control->switches, sizeof(control->switches), header.switches_offset);
	if (!err)
		take_triggers(control, &read);
	return err;
}
