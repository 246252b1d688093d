/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is read of cgroups and of what processes moved, texts of any kind, and the sums of what a trace says of them. */
#include "test.h"

#include <stdlib.h>
#include <unistd.h>

#include "collect/cgroup_limits.h"
#include "helper/process_use.h"
#include "session/session.h"
#include "waits/resource_use.h"

static const char *path_of(const char *text, bool is_v1)
{
	static char copy[512];

	snprintf(copy, sizeof(copy), "%s", text);
	return cgroup_path(copy, is_v1);
}

TEST(the_cgroup_is_that_of_the_memory_controller_or_the_unified_one)
{
	static const char text[] =
		"12:pids:/user\n4:cpuset,memory:/docker/a1\n1:name=systemd:/x\n0::/system.slice/db\n";
	const char *path = path_of(text, true);

	CHECK(path && !strcmp(path, "/docker/a1"));
	path = path_of(text, false);
	CHECK(path && !strcmp(path, "/system.slice/db"));
	CHECK(!path_of("3:memory2:/a\n2:xmemory:/b\n", true));
	CHECK(!path_of("4:memory:/a\n", false));
}

TEST(a_cgroup_that_cannot_be_seen_or_is_gone_has_no_path)
{
	CHECK(!path_of("0::/../../other\n", false));
	CHECK(!path_of("0::/a/b (deleted)\n", false));
	CHECK(!path_of("", false));
	CHECK(!path_of("0::", false));
	CHECK(!path_of("::\n:\n\n0", false));
	CHECK(!path_of("0", true));
}

TEST(a_limit_is_a_number_of_bytes_or_none)
{
	CHECK_EQUAL(cgroup_limit("33554432\n"), 33554432);
	CHECK_EQUAL(cgroup_limit("0\n"), 0);
	CHECK(cgroup_limit("max\n") == UINT64_MAX);
	CHECK(cgroup_limit("9223372036854771712\n") == UINT64_MAX);
	CHECK(cgroup_limit("") == UINT64_MAX);
	CHECK(cgroup_limit("-5\n") == UINT64_MAX);
}

TEST(a_counter_is_found_by_its_whole_name_at_the_beginning_of_a_line)
{
	static const char text[] = "low 0\nhigh 17\nmax 4\nworkingset_refault_file 9\ntotal_high 99\n";

	CHECK_EQUAL(cgroup_counter(text, "high"), 17);
	CHECK_EQUAL(cgroup_counter(text, "max"), 4);
	CHECK_EQUAL(cgroup_counter(text, "workingset_refault_file"), 9);
	CHECK_EQUAL(cgroup_counter(text, "workingset_refault"), 0);
	CHECK_EQUAL(cgroup_counter(text, "total_high"), 99);
	CHECK_EQUAL(cgroup_counter("", "max"), 0);
	CHECK_EQUAL(cgroup_counter("max", "max"), 0);
}

TEST(what_a_process_moved_is_what_went_to_disks)
{
	struct process_use row = { .pid = 1 };

	CHECK(process_use_parse_io("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 4096\nwrite_bytes: 8192\n"
				   "cancelled_write_bytes: 5\n",
				   &row));
	CHECK_EQUAL(row.read_bytes, 4096);
	CHECK_EQUAL(row.write_bytes, 8192);
	CHECK_EQUAL(row.call_bytes, 2);
	CHECK(!process_use_parse_io("", &row));
	CHECK(!process_use_parse_io("rchar: 1\nwchar: 1\nread_bytes: 4096\n", &row));
	CHECK(!process_use_parse_io("rchar: 1\nwchar: 1\ncancelled_write_bytes: 5\nread_bytes: 1\n", &row));
}

TEST(the_cpu_time_of_a_process_is_that_of_all_its_code_and_of_the_kernel_for_it)
{
	struct process_use row = { .pid = 1 };

	CHECK(process_use_parse_stat("7 (a) b (c)) R 1 7 7 0 -1 4194560 9 8 7 6 150 50 4 3 20 0 1 0 55\n", &row));
	CHECK_EQUAL(row.cpu_ns, 200 * (1000000000 / sysconf(_SC_CLK_TCK)));
	CHECK(!process_use_parse_stat("", &row));
	CHECK(!process_use_parse_stat("7 (a", &row));
	CHECK(!process_use_parse_stat("7 (a) R 1 7 7 0 -1 4194560 9 8 7 6 150\n", &row));
}

static struct process_use rows[PROCESS_USE_MAX];
static size_t row_count;

static void add_row(void *data __attribute__((unused)), const struct process_use *row)
{
	rows[row_count++] = *row;
}

TEST(processes_are_read_once_each_and_this_one_is_among_them)
{
	size_t own = 0;

	row_count = 0;
	CHECK(!process_use_read(add_row, NULL));
	for (size_t i = 0; i < row_count; i++) {
		own += rows[i].pid == (uint32_t)getpid();
		for (size_t k = 0; k < i; k++)
			CHECK(rows[i].pid != rows[k].pid);
	}
	CHECK_EQUAL(own, 1);
}

/* --- What a trace says ---------------------------------------------------------------------------- */

static struct ev_header header_of(enum event_id id, uint64_t time_ns)
{
	return (struct ev_header){ .time_ns = time_ns, .subsys = id >> 16, .event = id & 0xffff };
}

static void push_limit(struct session *session, uint64_t time_ns, const char *cgroup, uint64_t hits)
{
	struct ev_resource_memory_limit e = {
		.header = header_of(EV_RESOURCE_MEMORY_LIMIT, time_ns),
		.limit_bytes = 1 << 20,
		.hits = hits,
		.file_refaults = 2 * hits,
		.swap_refaults = 3 * hits,
	};

	memcpy(e.cgroup, cgroup, strnlen(cgroup, sizeof(e.cgroup)));
	CHECK(!session_push(session, 0, &e, sizeof(e)));
}

static void push_storage(struct session *session, uint64_t time_ns, uint32_t pid, uint64_t bytes)
{
	struct ev_resource_storage e = {
		.header = header_of(EV_RESOURCE_STORAGE, time_ns),
		.pid = pid,
		.write_bytes = bytes,
	};

	memset(e.name, 'n', sizeof(e.name)); /* without an end */
	CHECK(!session_push(session, 0, &e, sizeof(e)));
}

static void push_cpu_time(struct session *session, uint64_t time_ns, uint32_t pid, uint64_t cpu_ns)
{
	struct ev_resource_cpu_time e = {
		.header = header_of(EV_RESOURCE_CPU_TIME, time_ns),
		.pid = pid,
		.cpu_ns = cpu_ns,
	};

	memset(e.name, 'c', sizeof(e.name)); /* without an end */
	CHECK(!session_push(session, 0, &e, sizeof(e)));
}

TEST(what_is_said_twice_is_added_up_and_names_have_an_end)
{
	struct session *session = session_new(1, 1 << 20);
	struct resource_use *use = resource_use_new(session);
	const struct memory_limit *limits;
	const struct storage_user *users;
	const struct cpu_user *cpu_users;
	size_t count;

	push_limit(session, 1, "/db", 10);
	push_limit(session, 2, "/web", 1);
	push_limit(session, 3, "/db", 5);
	push_storage(session, 4, 0, 100);
	push_storage(session, 5, 77, 200);
	push_storage(session, 6, 77, 300);
	push_cpu_time(session, 7, 77, 20);
	push_cpu_time(session, 8, 78, 1);
	push_cpu_time(session, 9, 77, 30);
	session_finish(session);
	limits = resource_use_limits(use, &count);
	CHECK_EQUAL(count, 2);
	CHECK(!strcmp(limits[0].cgroup, "/db"));
	CHECK_EQUAL(limits[0].hits, 15);
	CHECK_EQUAL(limits[0].file_refaults, 30);
	CHECK_EQUAL(limits[0].swap_refaults, 45);
	users = resource_use_storage(use, &count);
	CHECK_EQUAL(count, 2);
	CHECK_EQUAL(users[1].write_bytes, 500);
	CHECK_EQUAL(strlen(users[1].name), sizeof(users[1].name) - 1);
	cpu_users = resource_use_cpus(use, &count);
	CHECK_EQUAL(count, 2);
	CHECK_EQUAL(cpu_users[0].cpu_ns, 50);
	CHECK_EQUAL(cpu_users[1].pid, 78);
	CHECK_EQUAL(strlen(cpu_users[0].name), sizeof(cpu_users[0].name) - 1);
	resource_use_free(use);
	session_free(session);
}

TEST(more_than_there_is_room_for_is_left_out)
{
	struct session *session = session_new(1, 1 << 20);
	struct resource_use *use = resource_use_new(session);
	char name[16];
	size_t count;

	for (unsigned int i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), "/group-%u", i);
		push_limit(session, 2 * i + 1, name, 1);
		push_storage(session, 2 * i + 2, i + 1, 1);
	}
	session_finish(session);
	resource_use_limits(use, &count);
	CHECK(count && count < 200);
	resource_use_storage(use, &count);
	CHECK(count && count < 200);
	resource_use_free(use);
	session_free(session);
}
