// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * made_faster SHAPE [PERCENT]			(100)
 * Planted bottleneck: what SHAPE says, as long as PERCENT of its length; all else stays as it is. So what
 * a prediction says of it can be compared with what it really does.
 * Known answer: to shorten what stands here by half is the same as to run the shape with 50.
 *	lock		three threads sleep while they hold table_lock (4 ms), and longer without it
 *	hold		three threads compute while they hold table_lock (3 ms), and sleep 1 ms without it
 *	stage		take_result() waits for a stage that computes 4 ms for each item
 *	server		a process sleeps 6 ms for each request; all sleeps are there
 *	condition	threads wait for not_empty, as the producer sleeps 5 ms for each item
 *	straggler	all wait at step_barrier for main, which sleeps 8 ms
 *	serial		await_merge() waits for main, which computes 6 ms after all have computed 1 ms
 *	nested		inner() sleeps 2 ms with table_lock; outer(), which calls it, waits itself once, 0.1 ms
 *	crowd		six threads compute 150 ms each: with more CPUs, sooner
 * In all of them a thread that nobody waits for sleeps 10 ms again and again: it makes none of them longer.
 */
#include "roles.h"
#include <stdbool.h>

enum { ROUNDS = 120, STEPS = 120, ITEMS = 200, LOCK_ROUNDS = 80 };

static unsigned percent = 100;
static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_empty = PTHREAD_COND_INITIALIZER;
static int queued; /* owned by queue_lock */
static pthread_barrier_t step_barrier;
static int requests[2], answers[2];

static unsigned scaled(unsigned length_us)
{
	return length_us * percent / 100;
}

/* By the CPU's time: the work is the same however many others want the CPU. */
static void work_us(unsigned length_us)
{
	uint64_t end_ns = cpu_time_ns() + length_us * 1000ull;

	while (cpu_time_ns() < end_ns)
		;
}

static void sleep_us(unsigned length_us)
{
	struct timespec length = { .tv_nsec = length_us * 1000l };

	nanosleep(&length, NULL);
}

/* --- Shapes ------------------------------------------------------------------------------------ */

static void use_table(int number)
{
	sleep_us(number * 1000);
	for (int i = 0; i < LOCK_ROUNDS; i++) {
		pthread_mutex_lock(&table_lock);
		sleep_us(scaled(4000));
		pthread_mutex_unlock(&table_lock);
		sleep_us(6000);
	}
}

static void fill_table(int number)
{
	sleep_us(number * 1000);
	for (int i = 0; i < LOCK_ROUNDS; i++) {
		pthread_mutex_lock(&table_lock);
		work_us(scaled(3000));
		pthread_mutex_unlock(&table_lock);
		sleep_us(1000);
	}
}

static OWN_FRAME void inner(void)
{
	pthread_mutex_lock(&table_lock);
	sleep_us(scaled(2000));
	pthread_mutex_unlock(&table_lock);
}

static OWN_FRAME void outer(int number)
{
	(void)number;
	sleep_us(100);
	for (int i = 0; i < LOCK_ROUNDS; i++)
		inner();
}

static void transform_items(int number)
{
	(void)number;
	for (int i = 0; i < ITEMS; i++) {
		work_us(scaled(4000));
		write_byte(answers[1]);
	}
}

static OWN_FRAME void take_result(void)
{
	read_byte(answers[0]);
}

static void take_results(int number)
{
	(void)number;
	for (int i = 0; i < ITEMS; i++) {
		take_result();
		sleep_us(1000);
	}
}

static void serve(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		read_byte(requests[0]);
		sleep_us(scaled(6000));
		write_byte(answers[1]);
	}
}

static void take_items(int number)
{
	for (int i = number; i < ITEMS; i += 2) {
		pthread_mutex_lock(&queue_lock);
		while (!queued)
			pthread_cond_wait(&not_empty, &queue_lock);
		queued--;
		pthread_mutex_unlock(&queue_lock);
		work_us(1000);
	}
}

static void run_steps(int number)
{
	(void)number;
	for (int i = 0; i < STEPS; i++)
		pthread_barrier_wait(&step_barrier);
}

static OWN_FRAME void await_parts(void)
{
	pthread_barrier_wait(&step_barrier);
}

static OWN_FRAME void await_merge(void)
{
	pthread_barrier_wait(&step_barrier);
}

static void run_phases(int number)
{
	for (int i = 0; i < ROUNDS; i++) {
		work_us(1000);
		await_parts();
		if (number < 0)
			work_us(scaled(6000));
		await_merge();
	}
}

static void crunch(int number)
{
	(void)number;
	for (int i = 0; i < 10; i++)
		work_us(scaled(15000));
}

/* --- What main does in them -------------------------------------------------------------------- */

static void ask_server(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		write_byte(requests[1]);
		read_byte(answers[0]);
		work_us(2000);
	}
}

static void put_items(void)
{
	for (int i = 0; i < ITEMS; i++) {
		sleep_us(scaled(5000));
		pthread_mutex_lock(&queue_lock);
		queued++;
		pthread_cond_signal(&not_empty);
		pthread_mutex_unlock(&queue_lock);
	}
}

static void straggle(void)
{
	for (int i = 0; i < STEPS; i++) {
		sleep_us(scaled(8000));
		pthread_barrier_wait(&step_barrier);
	}
}

static void merge_all(void)
{
	run_phases(-1);
}

/* clang-format off */
static const struct shape {
	const char *name;
	void (*run)(int number);	/* what other threads do, count of them */
	int count;
	void (*run_main)(void);
} shapes[] = {
	{ "lock", use_table, 3, NULL },		{ "hold", fill_table, 3, NULL },
	{ "stage", take_results, 1, NULL },	{ "server", NULL, 0, ask_server },
	{ "condition", take_items, 2, put_items }, { "straggler", run_steps, 3, straggle },
	{ "serial", run_phases, 3, merge_all },	{ "crowd", crunch, 6, NULL },
	{ "nested", outer, 3, NULL },
};
/* clang-format on */

static void run_shape(const struct shape *shape)
{
	struct role roles[8], stage;
	bool has_stage = shape->run == take_results, has_server = shape->run_main == ask_server;
	pid_t server = has_server ? role_fork("server", serve) : 0;

	prctl(PR_SET_TIMERSLACK, 1l);
	pthread_barrier_init(&step_barrier, NULL, shape->count + 1);
	if (has_stage)
		role_start(&stage, "stage", transform_items, 0);
	role_start_all(roles, shape->count, "part-%d", shape->run);
	if (shape->run_main)
		shape->run_main();
	role_join_all(roles, shape->count);
	if (has_stage)
		role_join_all(&stage, 1);
	if (has_server)
		role_wait(server);
}

static void *beat(void *unused)
{
	(void)unused;
	for (;;)
		sleep_us(10000);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t heart;

	if (pipe(requests) || pipe(answers))
		die("pipe");
	if (argc > 2)
		percent = atoi(argv[2]);
	if (pthread_create(&heart, NULL, beat, NULL))
		die("pthread_create");
	for (size_t i = 0; argc > 1 && i < sizeof(shapes) / sizeof(*shapes); i++)
		if (!strcmp(argv[1], shapes[i].name)) {
			run_shape(&shapes[i]);
			return 0;
		}
	fprintf(stderr, "Usage: made_faster SHAPE [PERCENT]\n");
	return 2;
}
