/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "findings/blame/spin_calls.h"

#include <string.h>

#include "base/table.h"
#include "findings/parts/code_path_key.h"
#include "findings/parts/findings_internal.h"
#include "findings/parts/words.h"
#include "stacks/fold.h"

static bool begins(const char *text, const char *with)
{
	return text && !strncmp(text, with, strlen(with));
}

/* The function of MPI's interface, without the P of its profiling twin; NULL: it is none. */
static const char *mpi_name(const struct report_frame *frame)
{
	const char *name = frame->function;

	if (begins(name, "PMPI_"))
		return name + 1;
	return begins(name, "MPI_") ? name : NULL;
}

static bool is_openmp(const struct findings *findings, const struct report_frame *frame)
{
	return begins(fold_find_label(findings->input.fold, frame), "OpenMP") || begins(frame->module, "libgomp.so") ||
	       begins(frame->module, "libomp.so") || begins(frame->module, "libiomp5.so");
}

/* What the compiler has the program call; NULL: it is something of the library's own. */
static const char *openmp_entry(const struct report_frame *frame)
{
	return begins(frame->function, "GOMP_") || begins(frame->function, "__kmpc_") || begins(frame->function, "omp_")
		       ? frame->function
		       : NULL;
}

static bool is_for_lock(const char *entry)
{
	return entry && (strstr(entry, "critical") || strstr(entry, "lock") || strstr(entry, "atomic") ||
			 strstr(entry, "ordered"));
}

static size_t skip_kernel(const struct report_frame *frames, size_t count)
{
	size_t from = 0;

	while (from < count && frames[from].is_kernel)
		from++;
	return from;
}

bool spin_call_is_of_library(const struct findings *findings, const struct report_frame *frames, size_t count)
{
	size_t from = skip_kernel(frames, count);

	for (size_t i = 0; i < count; i++)
		if (mpi_name(&frames[i]))
			return true;
	return from < count && is_openmp(findings, &frames[from]);
}

static struct spin_call openmp_call(struct findings *findings, const struct report_frame *frames, size_t count,
				    size_t from)
{
	const char *entry = NULL;

	for (size_t i = from; i < count && is_openmp(findings, &frames[i]); i++)
		entry = openmp_entry(&frames[i]) ? openmp_entry(&frames[i]) : entry;
	if (is_for_lock(entry))
		return (struct spin_call){
			.key = hash_string(1, entry),
			.where = arena_printf(findings->arena, "for a lock of OpenMP (%s)", entry),
			.is_named = true,
		};
	return (struct spin_call){
		.key = hash_string(1, "OpenMP"),
		.where = entry ? arena_printf(findings->arena, "at a barrier of OpenMP (%s)", entry)
			       : "at a barrier of OpenMP",
		.is_named = entry,
		.is_of_library = true,
	};
}

struct spin_call spin_call_of(struct findings *findings, const struct report_frame *frames, size_t count)
{
	size_t from = skip_kernel(frames, count);
	const struct report_frame *frame;

	for (size_t i = 0; i < count; i++)
		if (mpi_name(&frames[i]))
			return (struct spin_call){
				.key = hash_string(1, mpi_name(&frames[i])),
				.where = arena_printf(findings->arena, "in %s", mpi_name(&frames[i])),
				.is_named = true,
				.is_of_library = true,
			};
	if (from < count && is_openmp(findings, &frames[from]))
		return openmp_call(findings, frames, count, from);
	frame = fold_find_headline(findings->input.fold, frames, count);
	return (struct spin_call){
		.key = findings_code_key(frame),
		.where = arena_printf(findings->arena, "in %s", words_frame(findings, frame)),
		.is_named = true,
	};
}
