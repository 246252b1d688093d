/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A trace on a page, until the user ends it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "query/trace_states_make.h"
#include "serve/viewer.h"

struct http_server;
struct settings;

struct view_page {
	struct viewer *viewer;
	struct viewer *second;    /* of two traces that are compared; NULL: there is one */
	struct viewer_pair *pair; /* the same */
	struct http_server *server;
	struct states_waiter waiter; /* ends when the user wants that */
	/* A signal that came, and whether it ends the page; NULL: all but SIGCHLD do. sender: 0: the terminal's. */
	bool (*on_signal)(void *data, int signal_number, int sender);
	void *data;
};

/* Signals are held back from here on, and looked for. Before any thread is started. */
void view_page_hold_signals(void);

/* Serves the page where settings say, prints a link, and opens it if it is for this machine. 0 or a negative errno, after a message. */
int view_page_open(struct view_page *page, const struct viewer_options *options, const struct settings *settings);
/* The same of two traces, side by side. */
int view_page_open_pair(struct view_page *page, const struct viewer_options options[static 2],
			const struct settings *settings);
void view_page_close(struct view_page *page);

/* Stays until the user ends it. */
void view_page_wait(struct view_page *page);
