/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Clocks that are asked over the loopback device, with a skew, a drift and steps of the one that answers. */
#include "test.h"

#include <arpa/inet.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "clocks/clock_exchange.h"
#include "clocks/clock_fit.h"

enum { SAMPLES = 60, BURST = 8 };

/* Ahead by skew_ns + drift * (t - begin_ns), and from step_at_ns on by step_ns more. */
struct clock {
	uint64_t begin_ns, step_at_ns;
	double skew_ns, drift, step_ns;
};

static double true_offset(const struct clock *clock, uint64_t t)
{
	double offset = clock->skew_ns + clock->drift * (double)(int64_t)(t - clock->begin_ns);

	return clock->step_at_ns && t >= clock->step_at_ns ? offset + clock->step_ns : offset;
}

static uint64_t now_of(const void *data)
{
	uint64_t t = clock_ns();

	return t + (int64_t)floor(true_offset(data, t));
}

static uint64_t random_state = 1;

static double pick(double low, double high)
{
	random_state = random_state * 6364136223846793005ull + 1442695040888963407ull;
	return low + (high - low) * (random_state >> 11) * 0x1p-53;
}

static void put_address(int fd, char *address, size_t size_bytes)
{
	struct sockaddr_in name;
	socklen_t name_bytes = sizeof(name);

	CHECK_EQUAL(getsockname(fd, (void *)&name, &name_bytes), 0);
	snprintf(address, size_bytes, "127.0.0.1:%d", ntohs(name.sin_port));
}

static pid_t serve(const struct clock *clock, char *address, size_t size_bytes)
{
	struct clock_server server = { .now_ns = now_of, .data = clock };
	pid_t pid, parent = getpid();

	CHECK_EQUAL(clock_server_open(&server, "127.0.0.1:0"), 0);
	put_address(server.fd, address, size_bytes);
	pid = fork();
	if (!pid) {
		struct pollfd poll_fd = { .fd = server.fd, .events = POLLIN };

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			if (poll(&poll_fd, 1, 1000) > 0)
				clock_server_answer(&server);
		_exit(0);
	}
	close(server.fd);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The greatest error, and at how many moments it was above what was stated. */
static double check_fit(const struct clock_fit *fit, const struct clock *clock, const struct clock_sample *samples,
			int *wrong)
{
	double worst_ns = 0;

	for (int i = 0; i < 100; i++) {
		uint64_t from = samples[0].t0, uncertainty_ns, t = from + pick(0, 1) * (samples[SAMPLES - 1].t3 - from);
		double offset_ns = clock_fit_offset_ns(fit, t, &uncertainty_ns);
		double error_ns = fabs(offset_ns - true_offset(clock, t));

		*wrong += error_ns > uncertainty_ns;
		/* Within the gap between two samples in which a clock was set, nobody knows when. */
		if (!clock->step_at_ns && error_ns > worst_ns)
			worst_ns = error_ns;
	}
	return worst_ns;
}

/* The greatest error; *round_trip_ns becomes the smallest round trip, if that was above it. */
static double run(const struct clock *clock, int *wrong, double *round_trip_ns)
{
	struct clock_sample samples[SAMPLES];
	struct clock_fit *fit;
	uint8_t boot[CLOCK_BOOT_BYTES];
	char address[32];
	pid_t pid = serve(clock, address, sizeof(address));
	double worst_ns;
	int fd;

	CHECK_EQUAL(clock_peer_open(address, &fd), 0);
	for (int i = 0; i < SAMPLES; i++)
		CHECK_EQUAL(clock_peer_ask(fd, BURST, &samples[i], boot), 0);
	close(fd);
	stop(pid);
	fit = clock_fit_new(samples, SAMPLES);
	worst_ns = check_fit(fit, clock, samples, wrong);
	*round_trip_ns = fmax(*round_trip_ns, clock_fit_round_trip_ns(fit));
	clock_fit_free(fit);
	return worst_ns;
}

TEST(over_loopback_the_error_is_below_what_is_stated_and_below_20_us)
{
	double worst_ns = 0, round_trip_ns = 0;
	int wrong = 0;

	for (int round = 0; round < 100; round++) {
		struct clock clock = { .begin_ns = clock_ns(),
				       .skew_ns = pick(-1e9, 1e9),
				       .drift = pick(-200e-6, 200e-6) };

		worst_ns = fmax(worst_ns, run(&clock, &wrong, &round_trip_ns));
	}
	print_message("the greatest error of 100 runs: %.1f us, the greatest round trip %.1f us\n", worst_ns / 1e3,
		      round_trip_ns / 1e3);
	CHECK_EQUAL(wrong, 0);
	/* Who is kept from a CPU all the time has long round trips. */
	CHECK_THAT(worst_ns, <, fmax(20000, round_trip_ns));
}

TEST(over_loopback_the_error_is_below_what_is_stated_when_a_clock_is_set)
{
	double round_trip_ns = 0;
	int wrong = 0;

	for (int round = 0; round < 100; round++) {
		uint64_t now_ns = clock_ns();
		struct clock clock = { .begin_ns = now_ns,
				       .skew_ns = pick(-1e9, 1e9),
				       .drift = pick(-200e-6, 200e-6),
				       .step_at_ns = now_ns + 8000000,
				       .step_ns = pick(-1e9, 1e9) };

		run(&clock, &wrong, &round_trip_ns);
	}
	CHECK_EQUAL(wrong, 0);
}

TEST(what_is_no_question_gets_no_answer)
{
	static const char *const packets[] = { "", "pnchclkQ",
					       "GET / HTTP/1.1 and so on, for as long as a question would be........" };
	struct clock_server server = { 0 };
	struct pollfd poll_fd = { .events = POLLIN };
	char address[32];
	int fd;

	CHECK_EQUAL(clock_server_open(&server, "127.0.0.1:0"), 0);
	put_address(server.fd, address, sizeof(address));
	CHECK_EQUAL(clock_peer_open(address, &fd), 0);
	for (size_t i = 0; i < sizeof(packets) / sizeof(*packets); i++) {
		CHECK_EQUAL(send(fd, packets[i], strlen(packets[i]), 0), (ssize_t)strlen(packets[i]));
		poll_fd.fd = server.fd;
		CHECK_EQUAL(poll(&poll_fd, 1, 1000), 1);
		clock_server_answer(&server);
	}
	poll_fd.fd = fd;
	CHECK_EQUAL(poll(&poll_fd, 1, 0), 0);
	close(fd);
	close(server.fd);
}

TEST(a_boot_is_read_from_its_text)
{
	uint8_t boot[CLOCK_BOOT_BYTES];

	CHECK(clock_boot_parse("00112233-4455-6677-8899-aabbccddeeff", boot));
	CHECK(boot[0] == 0 && boot[1] == 0x11 && boot[15] == 0xff);
	CHECK(!clock_boot_parse("00112233-4455-6677-8899-aabbccddeef", boot));
	CHECK(!clock_boot_parse("00112233-4455-6677-8899-aabbccddeeff0", boot));
	CHECK(!clock_boot_parse("0011223g-4455-6677-8899-aabbccddeeff", boot));
}
