/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of a scope share. */
#pragma once

#include "base/text.h"
#include "scope/address.h"
#include "scope/client.h"
#include "scope/scope.h"
#include "trace/trace_pack.h"

enum {
	CLIENTS_MAX = 32,
	FIRST_CHUNKS = 2, /* forms and information */
};

struct first_chunk {
	struct trace_chunk head;
	void *stored; /* NULL: it has not come yet */
};

struct scope {
	struct address address;
	struct text name;
	struct tls *tls;                    /* NULL: without */
	char *token;                        /* NULL: none is asked for */
	int listen_fd, session_fd, poll_fd; /* -1: none */
	struct chunk_log *log;
	struct trace_packer packer;
	struct first_chunk first[FIRST_CHUNKS];
	struct client_setting setting;
	struct recorder_stream stream;
	struct client *clients[CLIENTS_MAX];
	size_t client_count;
	bool is_beginning;          /* what comes is for those who wait */
	uint64_t now_ns;            /* of the last step */
	uint64_t begun_ns;          /* when the last clients were given a beginning; 0: the next ones need not wait */
	uint64_t closed_until_ns;   /* nobody can be let in until then; 0: everybody can */
	uint64_t ended_ns;          /* when traces were ended last */
	struct scope_counts counts; /* of clients that are gone */
};

/* scope_stream.c: what the recorder calls, and the chunks that each trace has first. */
void scope_stream_init(struct scope *scope);

/* scope_clients.c: scope_open_doors() 0 or -1, with errno. */
int scope_open_doors(struct scope *scope);
void scope_clients_free(struct scope *scope);
