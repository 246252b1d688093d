/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a language for scripts has to offer. To plug in another one: write a struct script_language in a folder of its own, as
 * activity/lua is one, and add it to the list in activity/decode/scripts.c. A file belongs to the language whose suffix it has.
 *
 * A script has a filter, a decoder, a handler of activities, or several of these. The caller asks neither after it has failed. An implementation
 *
 *	- runs nothing but the text that it is given, and lets that reach neither files nor processes nor the network;
 *	- stops a call that takes too long or too much memory, and says so as a failure;
 *	- never ends the process and never jumps out of the functions below;
 *	- escapes nothing: what a script says is escaped by those who show it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct activity;
struct event_context;
struct named_event;
struct script_table;
struct text;

/* So many scripts at a time. */
enum { SCRIPTS_MAX = 32 };

/* A script that is not in a file; borrowed. */
struct script_text {
	const char *name; /* for messages, and of the source of its activities: "waits.lua" */
	const char *text;
	size_t text_bytes;
};

/* What a script may do. Both copy what they keep. */
struct script_host {
	/*
	 * source is filled in by the host. False: it is not taken. Else the script sees it itself: the host does not give
	 * an activity back to the script that has made it.
	 */
	bool (*emit)(void *data, const struct activity *activity);
	void (*print)(void *data, const char *line, size_t line_bytes);
	void (*show)(void *data, const struct script_table *table); /* statistics; script is filled in by the host */
	void *data;
	const struct event_context *context; /* who threads of activities are; NULL: nobody is known */
};

/* What a script has, as it is found when it is opened. Borrowed from the script. */
struct script_parts {
	bool has_filter, has_decoder, has_finish;
	bool has_activity_handler; /* on_activity() */
	const char *const *events; /* names that its decoder wants to see, as named_event_is() takes them */
	size_t event_count;        /* 0: all */
};

struct script_language {
	const char *name, *suffix; /* "Lua", ".lua" */

	/* Runs the text once. 0 and *state for close(), or -EINVAL with a message in why. path is for messages. */
	int (*open)(const char *path, const char *script, size_t script_bytes, const struct script_host *host,
		    void **state, struct script_parts *parts, struct text *why);

	/* 0 and whether the event passes, or -EINVAL with a message, which names script and line, in why. */
	int (*filter)(void *state, const struct named_event *event, bool *passes, struct text *why);

	/* An event for the decoder, and the end of all events. 0, or -EINVAL as above. */
	int (*on_event)(void *state, const struct named_event *event, struct text *why);
	int (*finish)(void *state, struct text *why);

	/* An activity that a built-in decoder or another script has found. 0, or -EINVAL as above. */
	int (*on_activity)(void *state, const struct activity *activity, struct text *why);

	void (*close)(void *state);
};
