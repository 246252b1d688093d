/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is left of processes that fork, end, and are killed; and what the environment says to them. */
#include "pinchtrace_fixture.h"

#include <pthread.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { NET, DISK };

/* --- The programs ------------------------------------------------------------------------ */

static void write_forever(void)
{
	unsigned char payload[PINCHTRACE_PAYLOAD_MAX];

	for (uint32_t i = 0;; i++) {
		if (i % 5) {
			trace_event(NET, 1, i);
		} else {
			memset(payload, i, sizeof(payload));
			trace_event_payload(NET, 1, i, payload, i % sizeof(payload));
		}
	}
}

static void write_three(void)
{
	for (uint32_t i = 0; i < 3; i++)
		trace_event(NET, 1, i);
}

static void die(void)
{
	raise(SIGKILL);
	_exit(1);
}

static void write_three_and_die(void)
{
	write_three();
	die();
}

/* Whether this process has an area of its own with three events of the caller. */
static void check_own_three(void)
{
	struct snapshot snapshot;

	MUST(own_area()->header->pid == (uint32_t)getpid());
	MUST(snapshot_take(&snapshot, own_area(), ring_of(own_area(), syscall(SYS_gettid))));
	MUST(snapshot.event_count == 3);
	snapshot_free(&snapshot);
}

static void write_three_without_file(void)
{
	char path[512] = "";

	write_three();
	MUST(mapped_areas(getpid(), path, sizeof(path)) == 1);
	MUST(strstr(path, "memfd:" PINCHTRACE_NAME));
}

/* A limit of what a file may have is none of the process's life. */
static void write_below_limit(void)
{
	write_three();
	check_own_three();
	MUST(own_area()->header->ring_count_max < 1024);
}

static void limit_and_run(void)
{
	struct rlimit limit = { 4 << 20, 4 << 20 };
	char *arguments[] = { (char *)"program", NULL };

	MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	setenv("PINCHTRACE_PROGRAM", "write_below_limit", 1);
	execv("/proc/self/exe", arguments);
	_exit(1);
}

static void limit_to_nothing_and_run(void)
{
	struct rlimit limit = { 4096, 4096 };
	char *arguments[] = { (char *)"program", NULL };

	MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	setenv("PINCHTRACE_PROGRAM", "write_nothing", 1);
	execv("/proc/self/exe", arguments);
	_exit(1);
}

static void write_nothing(void)
{
	char path[512];

	write_three();
	trace_enable_all();
	write_three();
	MUST(trace_register("{}") == -ENOMEM && trace_flush() == -ENOMEM);
	MUST(trace_set_triggers(0, 0, 0, 0, 0, 0, TRACE_ONE_SHOT) == -ENOMEM);
	MUST(mapped_areas(getpid(), path, sizeof(path)) == 0);
	MUST(!fork() || wait(NULL) > 0);
	write_three();
}

static void *wait_with_event(void *data)
{
	trace_event(NET, 0, 0);
	while (!__atomic_load_n((bool *)data, __ATOMIC_ACQUIRE))
		sched_yield();
	return NULL;
}

/* Of 8 threads, 4 have a ring. */
static void have_too_many_threads(void)
{
	pthread_t threads[8];
	bool is_over = false;

	for (int i = 0; i < 8; i++)
		MUST(pthread_create(&threads[i], NULL, wait_with_event, &is_over) == 0);
	while (own_area()->header->ring_count + __atomic_load_n(&own_area()->header->lost, __ATOMIC_RELAXED) < 8)
		sched_yield();
	MUST(own_area()->header->ring_count == 4 && own_area()->header->lost == 4);
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	MUST(own_area()->header->ring_ended_count == 4);
	write_three();
	check_own_three();
}

static uint32_t live_count(void)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < own_area()->header->ring_count; i++)
		count += __atomic_load_n(&area_ring(own_area(), i)->state, __ATOMIC_ACQUIRE) == PINCHTRACE_RING_LIVE;
	return count;
}

/* Of 16 threads, some have a ring, and the others lose what they write. */
static void fill_up(void)
{
	pthread_t threads[16];
	bool is_over = false;

	MUST(strstr(getenv("PINCHTRACE_DIR"), "pinchtrace_test"));
	MUST(own_area()->header->pid == (uint32_t)getpid());
	for (int i = 0; i < 16; i++)
		MUST(pthread_create(&threads[i], NULL, wait_with_event, &is_over) == 0);
	while (live_count() + __atomic_load_n(&own_area()->header->lost, __ATOMIC_RELAXED) < 16)
		sched_yield();
	MUST(live_count() > 0 && own_area()->header->lost > 0);
	__atomic_store_n(&is_over, true, __ATOMIC_RELEASE);
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
}

static const char json[] =
	"{\n  \"0\": {\n    \"name\": \"net\",\n    \"events\": {\n      \"0\": \"name\"\n    }\n  },\n"
	"  \"1\": {\n    \"name\": \"disk\",\n    \"events\": {\n      \"0\": {\n        \"name\": \"mm\"\n"
	"      }\n    }\n  },\n  \"2\": {\n    \"name\": \"mm\",\n    \"events\": {}\n  }\n}\n";

static void register_names(void)
{
	const struct pinchtrace_header *header = own_area()->header;

	write_three();
	MUST(ring_of(own_area(), getpid()) < 0);
	MUST(trace_register(json) == 0 && trace_register(json) == 0);
	MUST(header->schema_bytes == sizeof(json));
	MUST(memcmp(own_area()->base + header->schema_offset, json, sizeof(json)) == 0);
	MUST(!pinchtrace_on[0] && pinchtrace_on[1] && pinchtrace_on[2] && !pinchtrace_on[3]);
	MUST(pinchtrace_on[7] && pinchtrace_on[65534] && !pinchtrace_on[65535]);
	MUST(trace_register("{}") == 0 && header->schema_bytes == sizeof(json) + 3);
}

static void flush_three(void)
{
	char text[1024] = "", expected[64];
	const char *line = text;
	unsigned long long at_ns, last_ns = 0;
	int fd, length;

	write_three();
	trace_event_payload(DISK, 2, 7, "\x01\xab", 2);
	MUST(trace_flush() == 4);
	MUST(trace_flush() == 0);
	fd = open(getenv("PINCHTRACE_FILE"), O_RDONLY | O_CLOEXEC);
	MUST(fd >= 0 && read(fd, text, sizeof(text) - 1) > 0);
	for (int i = 0; i < 4; i++) {
		MUST(sscanf(line, "%*d %llu%n", &at_ns, &length) == 1);
		MUST(atoi(line) == getpid() && at_ns >= last_ns);
		last_ns = at_ns;
		snprintf(expected, sizeof(expected), i < 3 ? " 0 1 %d\n" : " 1 2 7 01ab\n", i);
		MUST(strncmp(line + length, expected, strlen(expected)) == 0);
		line = strchr(line, '\n') + 1;
	}
	MUST(!*line);
	/* What was overwritten is said. */
	for (uint32_t i = 0; i < own_area()->header->ring_capacity + 10; i++)
		trace_event(NET, 1, i);
	MUST(trace_flush() == own_area()->header->ring_capacity);
	MUST(read(fd, text, sizeof(text) - 1) > 0);
	snprintf(expected, sizeof(expected), "# thread %d: 10 slots were overwritten\n", getpid());
	MUST(strncmp(text, expected, strlen(expected)) == 0);
	unlink(getenv("PINCHTRACE_FILE"));
}

static void use_monotonic(void)
{
	struct timespec before, after;
	struct snapshot snapshot;

	clock_gettime(CLOCK_MONOTONIC, &before);
	trace_event(NET, 0, 0);
	clock_gettime(CLOCK_MONOTONIC, &after);
	MUST(own_area()->header->clock == PINCHTRACE_CLOCK_MONOTONIC);
	MUST(snapshot_take(&snapshot, own_area(), 0));
	MUST(snapshot.events[0].time >= before.tv_sec * 1000000000ull + before.tv_nsec);
	MUST(snapshot.events[0].time <= after.tv_sec * 1000000000ull + after.tv_nsec);
	snapshot_free(&snapshot);
}

/* --- Forks ------------------------------------------------------------------------------- */

static int wait_for_child(pid_t pid)
{
	int status = -1;

	MUST(pid > 0 && waitpid(pid, &status, 0) == pid);
	return status;
}

/* A child that records has an area of its own; its parent's stays as it was. */
static void fork_and_write(void)
{
	struct area parent;
	char path[512] = "";
	uint64_t parent_head;
	pid_t pid;

	trace_disable(DISK);
	trace_register(json);
	write_three();
	MUST(mapped_areas(getpid(), path, sizeof(path)) == 1 && area_open(&parent, path) == 0);
	parent_head = area_ring(&parent, 0)->head;
	for (int kind = 0; kind < 3; kind++) {
		pid = kind == 0 ? fork() : kind == 1 ? _Fork() : (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
		if (!pid) {
			area_close(&parent);
			write_three();
			trace_event(DISK, 0, 0);
			MUST(mapped_areas(getpid(), path, sizeof(path)) == 1);
			check_own_three();
			MUST(own_area()->header->schema_bytes == sizeof(json));
			trace_enable(DISK);
			/* And its own child another one. */
			pid = fork();
			if (!pid) {
				write_three();
				die();
			}
			MUST(WIFSIGNALED(wait_for_child(pid)));
			check_own_three();
			_exit(0);
		}
		MUST(wait_for_child(pid) == 0);
		MUST(area_ring(&parent, 0)->head == parent_head);
		MUST(!pinchtrace_on[DISK]);
	}
	area_close(&parent);
}

/* One that records nothing leaves its parent's file alone, also when its thread and the process end. */
static void *end_thread(void *data)
{
	(void)data;
	trace_event(NET, 0, 0);
	if (!fork())
		pthread_exit(NULL); /* the last thread: the process ends by exit(0) */
	MUST(wait(NULL) > 0);
	return NULL;
}

static void fork_and_end(void)
{
	char path[512] = "";
	pthread_t thread;
	pid_t pid;

	write_three();
	MUST(mapped_areas(getpid(), path, sizeof(path)) == 1);
	pid = fork();
	if (!pid)
		exit(0);
	MUST(wait_for_child(pid) == 0);
	MUST(access(path, F_OK) == 0);
	MUST(pthread_create(&thread, NULL, end_thread, NULL) == 0);
	pthread_join(thread, NULL);
	MUST(access(path, F_OK) == 0);
	MUST(own_area()->header->ring_ended_count == 1);
	check_own_three();
}

enum { FORKING_THREADS = 4, FORKS = 25, FORKED_EVENTS = 100 };

static void *fork_often(void *data)
{
	for (uint32_t i = 0; i < FORKS; i++) {
		pid_t pid;

		trace_event(NET, 0, i);
		pid = fork();
		if (!pid) {
			for (uint32_t at = 0; at < FORKED_EVENTS; at++)
				trace_event(DISK, 0, at);
			die();
		}
		trace_event(NET, 0, i);
		MUST(WIFSIGNALED(wait_for_child(pid)));
	}
	return data;
}

static void storm(void)
{
	pthread_t threads[FORKING_THREADS];

	for (int i = 0; i < FORKING_THREADS; i++)
		MUST(pthread_create(&threads[i], NULL, fork_often, NULL) == 0);
	for (int i = 0; i < FORKING_THREADS; i++)
		pthread_join(threads[i], NULL);
	die();
}

const struct program programs[] = {
	{ "write_forever", write_forever },
	{ "write_three", write_three },
	{ "write_three_and_die", write_three_and_die },
	{ "write_three_without_file", write_three_without_file },
	{ "write_below_limit", write_below_limit },
	{ "limit_and_run", limit_and_run },
	{ "limit_to_nothing_and_run", limit_to_nothing_and_run },
	{ "write_nothing", write_nothing },
	{ "have_too_many_threads", have_too_many_threads },
	{ "fill_up", fill_up },
	{ "register_names", register_names },
	{ "flush_three", flush_three },
	{ "use_monotonic", use_monotonic },
	{ "fork_and_write", fork_and_write },
	{ "fork_and_end", fork_and_end },
	{ "storm", storm },
	{ 0 },
};

/* --- The tests --------------------------------------------------------------------------- */

/* A program in a directory of its own: its status, and how many files it leaves there. */
static int run_in_directory(const char *name, const char *setting, int *file_count)
{
	const char *directory = directory_make();
	int status = program_do(name, directory, setting);

	*file_count = directory_each(directory, NULL, NULL);
	directory_remove(directory);
	return status;
}

TEST(a_program_that_ends_leaves_no_file)
{
	int file_count;

	CHECK_EQUAL(run_in_directory("write_three", NULL, &file_count), 0);
	CHECK_EQUAL(file_count, 0);
}

TEST(a_file_that_is_to_be_kept_says_that_the_program_has_ended)
{
	const char *directory = directory_make();
	char path[512] = "";
	struct area area;

	CHECK_EQUAL(program_do("write_three", directory, "PINCHTRACE_KEEP=1"), 0);
	CHECK_EQUAL(directory_each(directory, copy_path, path), 1);
	CHECK_EQUAL(area_open(&area, path), 0);
	CHECK(area_is_sound(&area));
	CHECK_EQUAL(area.header->has_ended, 1);
	area_close(&area);
	directory_remove(directory);
}

static uint64_t pick(uint64_t limit)
{
	static uint64_t state = 1;

	state = state * 6364136223846793005u + 1442695040888963407u;
	return (state >> 33) % limit;
}

/* Kills it when it has written at least so many slots, wherever it is then. */
static void kill_at(pid_t pid, const char *directory, uint64_t slot_count, struct area *area)
{
	char path[512] = "";

	WAIT_FOR(directory_each(directory, copy_path, path) == 1 && area_open(area, path) == 0);
	WAIT_FOR(__atomic_load_n(&area->header->ring_count, __ATOMIC_ACQUIRE) &&
		 __atomic_load_n(&area_ring(area, 0)->head, __ATOMIC_ACQUIRE) >= slot_count);
	kill(pid, SIGKILL);
	CHECK(WIFSIGNALED(program_wait(pid)));
}

TEST(what_was_written_before_a_kill_is_there_whole_and_in_order)
{
	const char *directory = directory_make();
	struct snapshot snapshot;
	struct area area;

	for (int round = 0; round < (is_long() ? 200 : 30); round++) {
		pid_t pid = program_start("write_forever", directory, "PINCHTRACE_EVENTS=1024");

		kill_at(pid, directory, round ? pick(100000) : 1, &area);
		CHECK(area_is_sound(&area));
		CHECK_EQUAL(area.header->pid, pid);
		CHECK_EQUAL(area.header->has_ended, 0);
		CHECK(snapshot_take(&snapshot, &area, 0));
		CHECK_EQUAL(snapshot.tid, pid);
		CHECK_THAT(snapshot.event_count, >, 0);
		for (size_t i = 0; i < snapshot.event_count; i++) {
			const struct read_event *event = &snapshot.events[i];

			CHECK_EQUAL(event->payload_bytes,
				    event->argument % 5 ? 0 : event->argument % PINCHTRACE_PAYLOAD_MAX);
			for (uint32_t at = 0; at < event->payload_bytes; at++)
				CHECK_EQUAL(event->payload[at], (unsigned char)event->argument);
			CHECK(!i || (event->argument == event[-1].argument + 1 && event->time >= event[-1].time));
		}
		snapshot_free(&snapshot);
		area_close(&area);
		directory_each(directory, remove_file, NULL);
	}
	directory_remove(directory);
}

TEST(a_process_that_is_killed_leaves_its_file)
{
	int file_count;

	CHECK_EQUAL(run_in_directory("write_three_and_die", NULL, &file_count), SIGKILL);
	CHECK_EQUAL(file_count, 1);
}

TEST(a_child_that_records_has_an_area_of_its_own)
{
	int file_count;

	CHECK_EQUAL(run_in_directory("fork_and_write", NULL, &file_count), 0);
	/* Of three children that left by _exit(), and three of theirs that were killed. */
	CHECK_EQUAL(file_count, 6);
}

TEST(a_child_that_records_nothing_has_none_and_leaves_its_parents_alone)
{
	int file_count;

	CHECK_EQUAL(run_in_directory("fork_and_end", NULL, &file_count), 0);
	CHECK_EQUAL(file_count, 0);
}

struct storm_result {
	uint32_t pids[FORKING_THREADS * FORKS + 1];
	int area_count;
	uint64_t parent_events, child_events;
};

static void add_storm(const char *path, void *data)
{
	struct storm_result *result = data;
	struct snapshot snapshot;
	struct area area;

	CHECK_EQUAL(area_open(&area, path), 0);
	CHECK(area_is_sound(&area));
	CHECK_EQUAL(area.header->lost, 0);
	for (int i = 0; i < result->area_count; i++)
		CHECK_THAT(result->pids[i], !=, area.header->pid);
	result->pids[result->area_count++] = area.header->pid;
	for (uint32_t i = 0; i < area.header->ring_count; i++) {
		CHECK(snapshot_take(&snapshot, &area, i));
		for (size_t at = 0; at < snapshot.event_count; at++) {
			const struct read_event *event = &snapshot.events[at];

			if (event->subsystem == NET) {
				CHECK_EQUAL(event->argument, at / 2);
				result->parent_events++;
			} else {
				CHECK_EQUAL(snapshot.tid, area.header->pid);
				CHECK_EQUAL(event->argument, at);
				result->child_events++;
			}
		}
		snapshot_free(&snapshot);
	}
	area_close(&area);
}

TEST(in_a_storm_of_forks_each_process_has_its_own_events)
{
	const char *directory = directory_make();
	struct storm_result result = { .area_count = 0 };

	CHECK_EQUAL(program_do("storm", directory, NULL), SIGKILL);
	CHECK_EQUAL(directory_each(directory, NULL, NULL), FORKING_THREADS * FORKS + 1);
	directory_each(directory, add_storm, &result);
	CHECK_EQUAL(result.parent_events, 2 * FORKING_THREADS * FORKS);
	CHECK_EQUAL(result.child_events, FORKING_THREADS * FORKS * FORKED_EVENTS);
	directory_remove(directory);
}

TEST(where_no_file_can_be_the_area_is_memory_with_its_name)
{
	CHECK_EQUAL(program_do("write_three_without_file", "/nowhere", NULL), 0);
}

TEST(a_limit_of_file_sizes_makes_the_area_smaller)
{
	int file_count;

	CHECK_EQUAL(run_in_directory("limit_and_run", NULL, &file_count), 0);
}

TEST(a_process_without_an_area_goes_on_without_events)
{
	int file_count;

	CHECK_EQUAL(run_in_directory("limit_to_nothing_and_run", NULL, &file_count), 0);
	/* Of the program before its exec, which ends one without further words. */
	CHECK_EQUAL(file_count, 1);
}

TEST(threads_that_find_no_ring_are_counted_and_later_ones_get_those_of_ended_threads)
{
	int file_count;

	CHECK_EQUAL(run_in_directory("have_too_many_threads", "PINCHTRACE_THREADS=4", &file_count), 0);
}

TEST(the_environment_enables_subsystems_by_name_and_by_number)
{
	int file_count;

	CHECK_EQUAL(run_in_directory("register_names", "PINCHTRACE_ENABLE=7, mm,disk,65534,65535,70000,x", &file_count),
		    0);
}

TEST(a_flush_writes_lines_once)
{
	char setting[128];
	int file_count;

	snprintf(setting, sizeof(setting), "PINCHTRACE_FILE=/tmp/pinchtrace_test.%d", getpid());
	CHECK_EQUAL(run_in_directory("flush_three", setting, &file_count), 0);
}

TEST(time_stamps_can_be_those_of_clock_monotonic)
{
	int file_count;

	CHECK_EQUAL(run_in_directory("use_monotonic", "PINCHTRACE_CLOCK=monotonic", &file_count), 0);
}

/* Each of these in a mount namespace of its own: 0, 1 (failed), or 77 (not allowed). */

static int have_clock_source(const char *name)
{
	static const char shown[] = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
	const char *directory = directory_make();
	char path[256];
	FILE *file;
	int status;

	snprintf(path, sizeof(path), "%s/clock_source", directory);
	file = fopen(path, "w");
	CHECK(file && fprintf(file, "%s\n", name) > 0 && !fclose(file));
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount(path, shown, NULL, MS_BIND, NULL)) {
		status = 77;
	} else {
		status = program_do("use_monotonic", directory, NULL) ? 1 : 0;
		umount(shown);
	}
	unlink(path);
	directory_remove(directory);
	return status;
}

TEST(where_the_kernel_does_not_trust_the_counter_its_clock_is_read)
{
	static const char *const names[] = { "hpet", "acpi_pm", "kvm-clock", "tsc-early", "" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		pid_t pid = fork();
		int status;

		if (!pid)
			_exit(have_clock_source(names[i]));
		status = program_wait(pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
			skip();
		CHECK_EQUAL(status, 0);
	}
}

static int fill(void)
{
	const char *directory = directory_make();
	int status;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", directory, "tmpfs", 0, "size=512k")) {
		rmdir(directory);
		return 77;
	}
	status = program_do("fill_up", directory, "PINCHTRACE_EVENTS=4096");
	umount(directory);
	rmdir(directory);
	return status ? 1 : 0;
}

TEST(a_full_file_system_costs_events_and_not_the_process)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(fill());
	status = program_wait(pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	CHECK_EQUAL(status, 0);
}
