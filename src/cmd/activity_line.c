/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cmd/activity_line.h"

#include <inttypes.h>

#include "activity/activity.h"
#include "activity/event_context.h"
#include "base/json.h"
#include "base/text.h"
#include "rows/event_line.h"
#include "session/hosts.h"
#include "session/threads.h"

static const char *source_of(const struct activity *activity)
{
	return activity->source ? activity->source : "built-in";
}

static void put_parameter(struct text *out, const struct activity_parameter *parameter)
{
	text_put(out, " ");
	text_put_escaped(out, parameter->name);
	text_put(out, "=");
	if (parameter->type == PARAMETER_INTEGER) {
		text_printf(out, "%" PRId64, parameter->integer);
	} else if (parameter->type == PARAMETER_REAL) {
		text_printf(out, "%.9g", parameter->real);
	} else {
		event_line_put_string(out, parameter->string);
	}
}

void activity_line_put(struct text *out, const struct activity *activity, const struct event_context *context,
		       uint64_t first_ns)
{
	const struct thread *thread = event_context_thread(context, activity->thread);
	bool is_before = activity->begin_ns < first_ns;
	uint64_t ns = is_before ? first_ns - activity->begin_ns : activity->begin_ns - first_ns;

	text_printf(out, "%s%" PRIu64 ".%09" PRIu64 " %u ", is_before ? "-" : "", ns / 1000000000, ns % 1000000000,
		    activity->thread);
	event_line_put_string(out, activity->name);
	text_printf(out, " length_ns=%" PRIu64, activity->end_ns - activity->begin_ns);
	if (thread) {
		text_put(out, " thread_name=");
		event_line_put_string(out, thread->name);
	}
	for (size_t i = 0; i < activity->parameter_count; i++)
		put_parameter(out, &activity->parameters[i]);
	text_put(out, " by=");
	event_line_put_string(out, source_of(activity));
	text_put(out, "\n");
}

static void put_json_parameter(struct json *json, const struct activity_parameter *parameter)
{
	json_key(json, parameter->name);
	if (parameter->type == PARAMETER_INTEGER)
		json_int(json, parameter->integer);
	else if (parameter->type == PARAMETER_REAL)
		json_double(json, parameter->real);
	else
		json_string(json, parameter->string);
}

static void put_json_thread(struct json *json, const struct activity *activity, const struct event_context *context)
{
	const struct thread *thread = event_context_thread(context, activity->thread);

	json_key(json, "thread");
	json_uint(json, activity->thread);
	json_key(json, "tid");
	json_uint(json, thread ? id_on_host(thread->tid) : 0);
	json_key(json, "thread_name");
	json_string(json, thread ? thread->name : NULL);
	json_key(json, "application");
	json_string(json, thread ? event_context_application(context, thread->pid) : NULL);
	json_key(json, "host");
	json_string(json, thread ? event_context_host(context, thread->pid) : "");
	json_key(json, "cpu");
	if (activity->cpu == CPU_UNKNOWN)
		json_null(json);
	else
		json_uint(json, activity->cpu);
}

void activity_line_put_json(struct text *out, const struct activity *activity, const struct event_context *context)
{
	struct json json;

	json_init(&json, out);
	json_on_one_line(&json);
	json_begin_object(&json);
	json_key(&json, "activity");
	json_string(&json, activity->name);
	json_key(&json, "source");
	json_string(&json, source_of(activity));
	json_key(&json, "begin_ns");
	json_uint(&json, activity->begin_ns);
	json_key(&json, "end_ns");
	json_uint(&json, activity->end_ns);
	put_json_thread(&json, activity, context);
	json_key(&json, "parameters");
	json_begin_object(&json);
	for (size_t i = 0; i < activity->parameter_count; i++)
		put_json_parameter(&json, &activity->parameters[i]);
	json_end_object(&json);
	json_end_object(&json);
	json_fini(&json);
}
