/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which USDT probes the user wants recorded: "postgresql:query__*", "libx.so:provider:probe", "/usr/bin/y:provider:*". */
#pragma once

#include <stddef.h>

struct text;

enum { USDT_SPECS_MAX = 32 };

struct usdt_spec {
	char *text;          /* as it was given */
	char *file;          /* the program or library, by its path or name; NULL: any */
	const char *pattern; /* "PROVIDER:PROBE", each perhaps with * and ?; borrowed from text */
};

struct usdt_specs {
	struct usdt_spec list[USDT_SPECS_MAX];
	size_t count;
};

/* 0, or -EINVAL and in why what is wrong. usdt_specs_fini() frees what was added. */
int usdt_specs_add(struct usdt_specs *specs, const char *argument, struct text *why);
void usdt_specs_fini(struct usdt_specs *specs);
