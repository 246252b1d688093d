/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/view_page.h"

#include <signal.h>
#include <stdio.h>

#include "options/settings.h"
#include "serve/browser.h"
#include "serve/http_server.h"
#include "serve/viewer_pair.h"

static const uint64_t look_interval_ns = 50000000;

static void put_signals(sigset_t *signals)
{
	sigemptyset(signals);
	sigaddset(signals, SIGINT);
	sigaddset(signals, SIGTERM);
	sigaddset(signals, SIGHUP);
	sigaddset(signals, SIGCHLD);
}

void view_page_hold_signals(void)
{
	sigset_t signals;

	put_signals(&signals);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
}

static void take_signal(struct view_page *page, int signal_number, const siginfo_t *info)
{
	bool is_of_terminal = info->si_code == SI_KERNEL;

	if (page->on_signal ? page->on_signal(page->data, signal_number, is_of_terminal ? 0 : info->si_pid)
			    : signal_number != SIGCHLD)
		page->waiter.is_cancelled = true;
}

static void look_for_signals(void *data)
{
	struct view_page *page = data;
	sigset_t signals;
	siginfo_t info;
	int number;

	put_signals(&signals);
	while ((number = sigtimedwait(&signals, &info, &(struct timespec){ 0 })) > 0)
		take_signal(page, number, &info);
}

/*
 * A browser keeps notes and scripts for one port. The usual one is always the same, and few, so that several pages can be open. It is
 * assigned to nobody in /etc/services; digits of "pinc" on a telephone.
 */
enum { PORT_FIRST = 7462, PORT_COUNT = 10 };

static int serve(struct view_page *page, const struct http_answers *answers, const struct settings *settings)
{
	const struct http_place place = {
		.port = settings->has_port ? settings->port : PORT_FIRST,
		.port_count = settings->has_port ? 0 : PORT_COUNT,
		.listen = settings->door.listen,
		.certificate = settings->door.tls_cert,
		.key = settings->door.tls_key,
		.page = settings->compares_executions ? "/executions" : "/",
	};
	char link[HTTP_LINK_BYTES];
	int err = http_server_open(&place, answers, &page->server);

	if (err)
		return err;
	http_server_link(page->server, link);
	fprintf(stderr, "pinch: %s; Ctrl-C ends it\n", link);
	if (!settings->door.listen)
		browser_open(link);
	return 0;
}

static struct viewer *open_viewer(const struct viewer_options *options, int *err)
{
	struct viewer *viewer = viewer_new(options);

	if (!*err)
		*err = viewer_read_rules(viewer);
	return viewer;
}

int view_page_open(struct view_page *page, const struct viewer_options *options, const struct settings *settings)
{
	int err = 0;

	page->waiter.pause = (struct pause){ look_for_signals, page, look_interval_ns, 0 };
	page->viewer = open_viewer(options, &err);
	return err ? err : serve(page, &(struct http_answers){ viewer_answer, page->viewer }, settings);
}

int view_page_open_pair(struct view_page *page, const struct viewer_options options[static 2],
			const struct settings *settings)
{
	int err = 0;

	page->waiter.pause = (struct pause){ look_for_signals, page, look_interval_ns, 0 };
	page->viewer = open_viewer(&options[0], &err);
	page->second = open_viewer(&options[1], &err);
	page->pair = viewer_pair_new(&(struct viewer_sides){
		.first = page->viewer,
		.second = page->second,
		.first_path = options[0].path,
		.second_path = options[1].path,
		.opens_files = options[0].opens_files,
	});
	return err ? err : serve(page, &(struct http_answers){ viewer_pair_answer, page->pair }, settings);
}

void view_page_close(struct view_page *page)
{
	http_server_close(page->server);
	viewer_pair_free(page->pair);
	viewer_free(page->second);
	viewer_free(page->viewer);
}

void view_page_wait(struct view_page *page)
{
	sigset_t signals;
	siginfo_t info;
	int number;

	put_signals(&signals);
	while (!page->waiter.is_cancelled)
		if ((number = sigwaitinfo(&signals, &info)) > 0)
			take_signal(page, number, &info);
}
