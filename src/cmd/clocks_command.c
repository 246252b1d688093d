/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "clocks/clock_exchange.h"
#include "clocks/clock_fit.h"
#include "options/settings.h"

enum { BURST = 8, COUNT_DEFAULT = 20, COUNT_MAX = 1000000, PERIOD_MS = 50 };

static int set_serve(struct settings *settings, const char *argument)
{
	(void)argument;
	settings->clocks.is_server = true;
	return 0;
}

static int set_count(struct settings *settings, const char *argument)
{
	return number_parse("count", argument, 1, COUNT_MAX, &settings->clocks.count);
}

static int set_duration(struct settings *settings, const char *argument)
{
	if (duration_parse(argument, &settings->duration_ns))
		return fail_plain(-EINVAL, "--duration takes a time with its unit, such as 10s, not '%s'", argument);
	return 0;
}

static volatile sig_atomic_t is_over;

static void end(int number)
{
	(void)number;
	is_over = 1;
}

static int serve(const char *address)
{
	struct clock_server server = { 0 };
	struct pollfd poll_fd = { .events = POLLIN };
	struct sigaction action = { .sa_handler = end };
	int err = clock_server_open(&server, address);

	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	printf("pinch: this host's clock can be asked at %s\n", address ? address : "127.0.0.1");
	fflush(stdout);
	poll_fd.fd = server.fd;
	while (!is_over)
		if (poll(&poll_fd, 1, -1) > 0)
			clock_server_answer(&server);
	close(server.fd);
	return 0;
}

static void show(const struct clock_fit *fit)
{
	size_t last = clock_fit_piece_count(fit) - 1;
	struct clock_piece piece = clock_fit_piece(fit, last);
	uint64_t uncertainty_ns;
	int64_t offset_ns = clock_fit_offset_ns(fit, piece.end_ns, &uncertainty_ns);
	struct text text = { 0 };

	text_printf(&text, "offset              %+.3f us: the other clock is %s\n", offset_ns / 1e3,
		    offset_ns < 0 ? "behind" : "ahead");
	text_printf(&text, "uncertainty         %.3f us\n", uncertainty_ns / 1e3);
	text_printf(&text, "drift               %+.3f ppm, uncertainty %.3f ppm\n", piece.drift_ppm,
		    piece.drift_ppm_uncertainty);
	text_printf(&text, "smallest round trip %.3f us of %zu samples\n", clock_fit_round_trip_ns(fit) / 1e3,
		    clock_fit_sample_count(fit));
	if (last)
		text_printf(&text, "changes             %zu: a clock was set, or its rate has changed\n", last);
	fputs(text.bytes, stdout);
	text_fini(&text);
}

/* How many samples there are; a negative errno: none came. */
static long ask(int fd, const struct settings *settings, struct clock_sample **samples)
{
	uint64_t limit_ns = clock_ns() + settings->duration_ns;
	size_t count = 0, capacity = 0, count_max = settings->clocks.count;
	uint8_t boot[CLOCK_BOOT_BYTES];
	int err = 0;

	if (!count_max)
		count_max = settings->duration_ns ? COUNT_MAX : COUNT_DEFAULT;
	while (count < count_max && (!settings->duration_ns || clock_ns() < limit_ns)) {
		ARRAY_GROW(*samples, count, capacity, 64);
		err = clock_peer_ask(fd, BURST, &(*samples)[count], boot);
		if (err)
			break;
		count++;
		poll(NULL, 0, PERIOD_MS);
	}
	return count ? (long)count : err;
}

static int measure(const struct settings *settings, const char *address)
{
	struct clock_sample *samples = NULL;
	struct clock_fit *fit = NULL;
	int fd, err = clock_peer_open(address, &fd);
	long count;

	if (err)
		return err == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
	count = ask(fd, settings, &samples);
	close(fd);
	if (count > 0)
		fit = clock_fit_new(samples, count);
	else
		fail(count, "no clock answers at %s: run pinch clocks --serve there", address);
	if (fit)
		show(fit);
	clock_fit_free(fit);
	free(samples);
	return fit ? 0 : EXIT_FAILED;
}

static int clocks_checked(const struct settings *settings, int argc, char **argv, int rest)
{
	bool is_server = settings->clocks.is_server;

	if (argc - rest > 1 || (argc == rest && !is_server)) {
		fail_plain(-EINVAL, "give one address: pinch clocks HOST:PORT, or pinch clocks --serve [ADDRESS:PORT]");
		return EXIT_USAGE;
	}
	if (is_server && (settings->clocks.count || settings->duration_ns)) {
		fail_plain(-EINVAL, "--serve answers until it is ended: leave --count and --duration out");
		return EXIT_USAGE;
	}
	return is_server ? serve(argc == rest ? NULL : argv[rest]) : measure(settings, argv[rest]);
}

static int clocks_run(int argc, char **argv)
{
	struct settings settings;
	int rest, status = EXIT_USAGE;

	settings_init(&settings);
	if (!settings_parse(&settings, &clocks_command, argc, argv, &rest)) {
		status = 0;
		if (settings.wants_help)
			command_help(&clocks_command);
		else
			status = clocks_checked(&settings, argc, argv, rest);
	}
	settings_fini(&settings);
	return status;
}

static const struct option_spec clocks_options[] = {
	{ "serve", 0, NULL, "let others ask this host's clock, here or at ADDRESS:PORT (default: 127.0.0.1:7467)",
	  set_serve },
	{ "count", 0, "N", "take N samples, each the best of 8 exchanges (default: 20)", set_count },
	{ "duration", 0, "TIME", "take samples for TIME, such as 10s", set_duration },
	{ 0 },
};

static const struct option_spec *const options[] = {
	clocks_options,
	common_options,
	NULL,
};

const struct command clocks_command = {
	.name = "clocks",
	.usage = "[options] HOST[:PORT]\n       pinch clocks --serve [ADDRESS[:PORT]]",
	.summary = "Measure how far another host's clock is ahead of this one's",
	.description = "Shows the offset, the drift and their uncertainty. pinch record --clock records them in a\n"
		       "trace, for pinch merge.",
	.options = options,
	.run = clocks_run,
};
