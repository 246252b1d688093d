/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The report as data: what is in its structs, for who writes all of it or describes it. The tables come from
 * the lines of the .def files.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "report/report_enums.h"

/* A change that an old reader of the JSON would not understand raises it. */
enum { REPORT_SCHEMA = 2 };

/* What a value is. In JSON all are numbers except for those that say so. */
enum report_kind {
	REPORT_NS,        /* uint64_t */
	REPORT_SIGNED_NS, /* int64_t */
	REPORT_COUNT,     /* uint64_t */
	REPORT_BYTES,     /* uint64_t */
	REPORT_NUMBER,    /* double; null: not a number */
	REPORT_SHARE,     /* the same, from 0 to 1 */
	REPORT_ID,        /* uint32_t; of a thread or process */
	REPORT_SMALL,     /* uint32_t; a count */
	REPORT_FROM_ONE,  /* uint32_t; 0 is null */
	REPORT_INDEX,     /* size_t; from 1, in JSON from 0; 0 is null */
	REPORT_STATUS,    /* int; negative is null */
	REPORT_FLAG,      /* bool, true or false */
	REPORT_TEXT,      /* const char *, a string; NULL is an empty one */
	REPORT_TEXT_OR_NULL,
	REPORT_SENTENCE,  /* the same as REPORT_TEXT, for people */
	REPORT_DEVICE,    /* struct report_device, an array */
	REPORT_HISTOGRAM, /* const uint32_t *, as of klocks/lengths.h; an array of pairs */
	REPORT_ENUM,      /* a string */
	REPORT_ENUM_OR_NULL,
	REPORT_OBJECT,
	REPORT_OBJECT_OR_NULL, /* a pointer */
	REPORT_PART,           /* an object whose members are among those of the one that has it */
	REPORT_NAMES,          /* struct report_frame *, an array of strings */
};

struct report_type;

struct report_field {
	const char *name; /* in JSON; NULL after the last one of a type */
	enum report_kind kind;
	bool is_list;                 /* a pointer to as many as stand at count_at */
	bool is_map;                  /* the same, which have names: the const char * at key_at in each */
	bool is_optional;             /* left out unless the bool at flag_at is true */
	size_t at, count_at, flag_at; /* in the struct */
	size_t key_at;
	size_t size_bytes;                       /* of what a list has */
	const struct report_type *(*type)(void); /* of objects and parts, else NULL */
	const struct report_enum *(*of)(void);   /* of enums, else NULL */
	uint32_t since;
	const char *meaning; /* NULL: that of its type */
	const char *title;   /* in tables for people; NULL: they need not have it */
};

/* A struct of the report. */
struct report_type {
	const char *name; /* of the struct */
	const char *meaning;
	size_t size_bytes;
	const struct report_field *fields;
	bool is_on_one_line;
	bool is_bare; /* the value of its only field stands for it */
};

/* NULL: it has no member that JSON calls so. */
const struct report_field *report_field_named(const struct report_type *type, const char *name);

/* Of struct report; those of all others are reached from it. */
const struct report_type *report_type(void);

/* Of struct report_frame. */
const struct report_type *report_frame_type(void);

/* Of the structs of these names. */
const struct report_type *report_path_type(void);
const struct report_type *report_wait_type(void);
const struct report_type *report_lock_type(void);
const struct report_type *report_file_type(void);
const struct report_type *report_socket_type(void);
const struct report_type *report_klock_type(void);
const struct report_type *report_klock_kind_type(void);
const struct report_type *report_klocks_type(void);
