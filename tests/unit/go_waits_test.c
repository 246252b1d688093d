/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of numbers of goroutines that are known at each moment. */
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "session/session.h"
#include "waits/go_waits.h"

enum { PID = 4711 };

struct stage {
	struct session *session;
	struct go_waits *waits;
};

static struct stage stage_new(void)
{
	struct stage stage = { .session = session_new(1, 1 << 20) };

	stage.waits = go_waits_new(stage.session);
	return stage;
}

static void stage_free(struct stage *stage)
{
	go_waits_free(stage->waits);
	session_free(stage->session);
}

static void sample(struct stage *stage, uint32_t listed, uint32_t examined, uint32_t waiting, uint64_t period_ns)
{
	struct ev_go_sample e = {
		.header = { .subsys = TRACE_SUBSYS_GO, .event = TRACE_EVENT_GO_SAMPLE },
		.pid = PID,
		.listed = listed,
		.examined = examined,
		.waiting = waiting,
		.period_ns = period_ns,
	};

	session_hand_out(stage->session, &e.header);
}

static void wait_at(struct stage *stage, uint32_t pid, uint32_t count, uint64_t stack)
{
	struct ev_go_waiting e = {
		.header = { .subsys = TRACE_SUBSYS_GO, .event = TRACE_EVENT_GO_WAITING },
		.pid = pid,
		.count = count,
		.stack = stack,
		.reason = "select",
	};

	session_hand_out(stage->session, &e.header);
}

static const struct go_process *process_of(const struct stage *stage)
{
	size_t cursor = 0;

	return go_waits_next(stage->waits, &cursor);
}

static double mean_of(const struct stage *stage, size_t wait, double *error)
{
	return go_waits_mean(process_of(stage), &process_of(stage)->waits[wait]->waiting, error);
}

TEST(a_mean_is_weighted_by_periods_and_scaled_to_all)
{
	struct stage stage = stage_new();
	double error;

	sample(&stage, 1000, 100, 30, 10);
	wait_at(&stage, PID, 20, 1);
	wait_at(&stage, PID, 10, 2);
	sample(&stage, 1000, 100, 10, 30);
	wait_at(&stage, PID, 10, 2);
	CHECK_EQUAL(process_of(&stage)->wait_count, 2);
	CHECK(fabs(go_waits_mean(process_of(&stage), &process_of(&stage)->waiting, &error) - 150) < 1e-9);
	CHECK(fabs(mean_of(&stage, 0, &error) - 50) < 1e-9);
	CHECK(fabs(mean_of(&stage, 1, &error) - 100) < 1e-9);
	stage_free(&stage);
}

TEST(what_is_always_the_same_is_still_uncertain)
{
	struct stage stage = stage_new();
	double error;

	for (int i = 0; i < 60; i++) {
		sample(&stage, 10, 10, 4, 1000);
		wait_at(&stage, PID, 4, 1);
	}
	CHECK(fabs(mean_of(&stage, 0, &error) - 4) < 1e-9);
	CHECK(fabs(error - 3 * 4 / 60.0) < 1e-9);
	stage_free(&stage);
}

TEST(no_row_has_more_than_its_sample)
{
	struct stage stage = stage_new();
	double error;

	wait_at(&stage, PID, 1, 1); /* of no sample */
	sample(&stage, 10, 10, 4, 1000);
	wait_at(&stage, PID, 3, 1);
	wait_at(&stage, PID, 2, 2);
	wait_at(&stage, PID + 1, 1, 3);
	sample(&stage, 10, 11, 4, 1000);
	wait_at(&stage, PID, 4, 1);
	sample(&stage, 10, 10, 11, 1000);
	wait_at(&stage, PID, 4, 1);
	sample(&stage, 10, 10, 4, 0);
	wait_at(&stage, PID, 4, 1);
	CHECK_EQUAL(process_of(&stage)->sample_count, 1);
	CHECK_EQUAL(process_of(&stage)->wait_count, 1);
	CHECK(fabs(mean_of(&stage, 0, &error) - 3) < 1e-9);
	stage_free(&stage);
}

enum { MOMENTS = 4000, PERIOD = 40, ROUNDS = 400 };

/* Goroutines come to the lock and leave it, in numbers that last a while. */
static double make_numbers(uint32_t *numbers)
{
	uint32_t number = 8;
	double sum = 0;

	for (int i = 0; i < MOMENTS; i++) {
		if (rand() % 30 == 0)
			number = rand() % 17;
		numbers[i] = number;
		sum += number;
	}
	return sum / MOMENTS;
}

TEST(the_mean_is_within_its_error_in_19_of_20_runs)
{
	uint32_t numbers[MOMENTS];
	unsigned int within = 0;
	double difference = 0, error;

	for (int round = 0; round < ROUNDS; round++) {
		struct stage stage = stage_new();
		double truth = make_numbers(numbers), mean;

		for (int begin = 0; begin < MOMENTS; begin += PERIOD) {
			uint32_t number = numbers[begin + rand() % PERIOD];

			sample(&stage, 16, 16, number, PERIOD);
			if (number)
				wait_at(&stage, PID, number, 1);
		}
		mean = mean_of(&stage, 0, &error);
		difference += mean - truth;
		within += fabs(mean - truth) <= error;
		stage_free(&stage);
	}
	CHECK(within >= ROUNDS * 19 / 20);
	/* The standard deviation of one mean is below 0.5: of the mean of 400, 0.025. */
	CHECK(fabs(difference / ROUNDS) < 0.1);
}
