/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/sessions.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "derive/live_merge.h"
#include "scope/session_socket.h"
#include "scope/spool.h"

enum {
	BYTES_AT_ONCE = 256 << 10,
	TAKEN_BYTES_MAX = 4 << 20,    /* of one session, then others have their turn */
	PUNCHED_BYTES_MIN = 16 << 20, /* what is not needed any more is given back in such pieces */
	KEPT_BYTES = 1 << 16,         /* how the trace begins */
};

/* How long a session is waited for that is found first, and for its end. */
static const uint64_t beginning_ns_max = 2000000000, end_ns_max = 20000000000;

struct one {
	struct one *next;
	char id[SESSION_ID_BYTES];
	char name[SESSION_ID_BYTES + 16]; /* for messages */
	int fd;                           /* -1: its trace is at its end */
	struct spool *spool;              /* NULL: there is none any more, nor are there events of it */
	int source;                       /* of the merge; -1: not yet */
	uint64_t found_ns, came_ns;
	uint64_t punched_bytes;
};

struct sessions {
	struct live_merge *merge;
	struct one *first;
	size_t open_count;
	bool are_ending;
	char bytes[BYTES_AT_ONCE];
};

struct sessions *sessions_new(struct live_merge *merge)
{
	struct sessions *sessions = xcalloc(1, sizeof(*sessions));

	sessions->merge = merge;
	return sessions;
}

void sessions_free(struct sessions *sessions)
{
	struct one *one;

	if (!sessions)
		return;
	while ((one = sessions->first)) {
		sessions->first = one->next;
		if (one->fd >= 0)
			close(one->fd);
		spool_close(one->spool);
		free(one);
	}
	free(sessions);
}

/* --- They come ------------------------------------------------------------------------------------------ */

static bool is_known(const void *data, const char *id)
{
	const struct sessions *sessions = data;

	for (const struct one *one = sessions->first; one; one = one->next)
		if (!strcmp(one->id, id))
			return true;
	return sessions->open_count == SESSIONS_POLLED_MAX;
}

static void take(void *data, const char *id, int fd)
{
	struct sessions *sessions = data;
	struct one *one = xcalloc(1, sizeof(*one));

	one->fd = fd;
	one->source = -1;
	one->found_ns = one->came_ns = clock_ns();
	snprintf(one->id, sizeof(one->id), "%s", id);
	snprintf(one->name, sizeof(one->name), "the session %s", id);
	one->next = sessions->first;
	sessions->first = one;
	sessions->open_count++;
	if (!spool_new(&one->spool))
		return;
	close(fd);
	one->fd = -1;
	sessions->open_count--;
}

void sessions_find(struct sessions *sessions)
{
	if (!sessions->are_ending)
		session_sockets_find(is_known, take, sessions);
}

/* --- What they send --------------------------------------------------------------------------------------- */

static void end_one(struct sessions *sessions, struct one *one)
{
	close(one->fd);
	one->fd = -1;
	sessions->open_count--;
	if (one->source >= 0)
		live_merge_end(sessions->merge, one->source);
}

static bool write_all(int fd, const char *bytes, size_t count)
{
	while (count) {
		ssize_t n = write(fd, bytes, count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		bytes += n;
		count -= n;
	}
	return true;
}

/* Returns whether something came. One whose bytes cannot be kept is at its end. */
static bool receive(struct sessions *sessions, struct one *one, uint64_t now_ns)
{
	size_t taken = 0;
	ssize_t n = -1;

	while (taken < TAKEN_BYTES_MAX && (n = recv(one->fd, sessions->bytes, BYTES_AT_ONCE, MSG_DONTWAIT)) > 0) {
		one->came_ns = now_ns;
		taken += n;
		if (!write_all(spool_fd(one->spool), sessions->bytes, n)) {
			fail(-errno, "cannot keep what comes from %s", one->name);
			n = 0;
			break;
		}
	}
	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		end_one(sessions, one);
	return taken;
}

/* What a trace says first may come in pieces. */
static void join(struct sessions *sessions, struct one *one)
{
	int source = live_merge_add(sessions->merge, spool_path(one->spool), one->name);

	if (source >= 0)
		one->source = source;
	else if (source != -EAGAIN && one->fd >= 0)
		end_one(sessions, one);
	if (source >= 0 && one->fd < 0)
		live_merge_end(sessions->merge, source);
}

/* On the disk there is what is still to be read, and what traces begin with. */
static void punch(struct one *one, uint64_t unneeded_bytes)
{
	uint64_t from = one->punched_bytes ? one->punched_bytes : KEPT_BYTES;

	if (unneeded_bytes < from + PUNCHED_BYTES_MIN)
		return;
	fallocate(spool_fd(one->spool), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, from, unneeded_bytes - from);
	one->punched_bytes = unneeded_bytes;
}

void sessions_take(struct sessions *sessions, uint64_t now_ns)
{
	for (struct one *one = sessions->first; one; one = one->next) {
		if (one->fd < 0 || !receive(sessions, one, now_ns))
			continue;
		if (one->source < 0)
			join(sessions, one);
		else
			punch(one, live_merge_grow(sessions->merge, one->source));
	}
}

bool sessions_are_awaited(const struct sessions *sessions, uint64_t now_ns)
{
	for (const struct one *one = sessions->first; one; one = one->next)
		if (one->fd >= 0 && one->source < 0 && now_ns - one->found_ns < beginning_ns_max)
			return true;
	return false;
}

/* --- Their ends --------------------------------------------------------------------------------------------- */

void sessions_end(struct sessions *sessions, uint64_t now_ns)
{
	static const char words[] = "end\n";

	sessions->are_ending = true;
	for (struct one *one = sessions->first; one; one = one->next) {
		if (one->fd < 0)
			continue;
		one->came_ns = now_ns;
		if (send(one->fd, words, sizeof(words) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			end_one(sessions, one);
	}
}

bool sessions_have_ended(const struct sessions *sessions, uint64_t now_ns)
{
	for (const struct one *one = sessions->first; one; one = one->next)
		if (one->fd >= 0 && now_ns - one->came_ns < end_ns_max)
			return false;
	return true;
}

size_t sessions_poll(const struct sessions *sessions, struct pollfd *poll_fds)
{
	size_t count = 0;

	for (const struct one *one = sessions->first; one; one = one->next)
		if (one->fd >= 0)
			poll_fds[count++] = (struct pollfd){ .fd = one->fd, .events = POLLIN };
	return count;
}
