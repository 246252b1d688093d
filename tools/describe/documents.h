/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pinch writes as JSON. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "report/report_fields.h"

struct document {
	const char *name; /* of the command, as a file's name has it */
	const struct report_type *(*type)(void);
	bool says_version; /* it has a member "pinch" */
};

enum { DOCUMENTS = 7 };

/* The report comes first. */
extern const struct document documents[DOCUMENTS];

enum { ANSWERS = 7 };

/* What the server of pinch view answers to its page alone: it has types and no schema. */
extern const struct report_type *(*const answers[ANSWERS])(void);

/* NULL: there is none of this name. */
const struct document *document_find(const char *name);
