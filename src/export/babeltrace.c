/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Babeltrace pulls: its sink asks for messages until there are none. So there is a source component, whose iterator makes messages of rows
 * (babeltrace.org/docs/v2.0/libbabeltrace2, "Component class development").
 */
#include "export/babeltrace.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>

#include <babeltrace2/babeltrace.h>

#include "base/fail.h"
#include "export/ctf_rows.h"

enum { MIP_VERSION = 0 };

/* What is called, with the types of its header. */
#define FUNCTIONS(F)                                              \
	F(clock_class_create)                                     \
	F(clock_class_put_ref)                                    \
	F(clock_class_set_name)                                   \
	F(clock_class_set_offset)                                 \
	F(component_class_source_create)                          \
	F(component_class_source_put_ref)                         \
	F(component_class_source_set_initialize_method)           \
	F(component_sink_borrow_input_port_by_index_const)        \
	F(component_source_borrow_output_port_by_index_const)     \
	F(current_thread_clear_error)                             \
	F(event_borrow_payload_field)                             \
	F(event_class_create)                                     \
	F(event_class_put_ref)                                    \
	F(event_class_set_name)                                   \
	F(event_class_set_payload_field_class)                    \
	F(field_class_integer_signed_create)                      \
	F(field_class_integer_unsigned_create)                    \
	F(field_class_put_ref)                                    \
	F(field_class_string_create)                              \
	F(field_class_structure_append_member)                    \
	F(field_class_structure_create)                           \
	F(field_integer_signed_set_value)                         \
	F(field_integer_unsigned_set_value)                       \
	F(field_string_set_value)                                 \
	F(field_structure_borrow_member_field_by_index)           \
	F(graph_add_sink_component)                               \
	F(graph_add_source_component_with_initialize_method_data) \
	F(graph_connect_ports)                                    \
	F(graph_create)                                           \
	F(graph_put_ref)                                          \
	F(graph_run)                                              \
	F(message_event_borrow_event)                             \
	F(message_event_create_with_default_clock_snapshot)       \
	F(message_iterator_class_create)                          \
	F(message_iterator_class_put_ref)                         \
	F(message_stream_beginning_create)                        \
	F(message_stream_end_create)                              \
	F(plugin_borrow_sink_component_class_by_name_const)       \
	F(plugin_find)                                            \
	F(plugin_put_ref)                                         \
	F(self_component_get_data)                                \
	F(self_component_set_data)                                \
	F(self_component_source_add_output_port)                  \
	F(self_message_iterator_borrow_component)                 \
	F(stream_class_create)                                    \
	F(stream_class_put_ref)                                   \
	F(stream_class_set_default_clock_class)                   \
	F(stream_create)                                          \
	F(stream_put_ref)                                         \
	F(trace_class_create)                                     \
	F(trace_class_put_ref)                                    \
	F(trace_create)                                           \
	F(trace_put_ref)                                          \
	F(trace_set_environment_entry_string)                     \
	F(value_map_create)                                       \
	F(value_map_insert_bool_entry)                            \
	F(value_map_insert_string_entry)                          \
	F(value_put_ref)

#define POINTER(name) __typeof__(bt_##name) *name;
#define NAME(name) { "bt_" #name, offsetof(struct functions, name) },

/* The library, once it is loaded; the same for all. */
static struct functions {
	FUNCTIONS(POINTER)
} babeltrace;

static const struct {
	const char *name;
	size_t offset;
} names[] = { FUNCTIONS(NAME) };

/* The source: what its iterator makes messages of. */
struct source {
	const struct babeltrace_trace *trace;
	bt_stream *stream;
	bt_event_class *events[CTF_KINDS_MAX];
	bool has_begun, has_ended;
};

int babeltrace_load(void)
{
	void *library = dlopen("libbabeltrace2.so.0", RTLD_NOW);

	for (size_t i = 0; library && i < sizeof(names) / sizeof(*names); i++) {
		void **function = (void **)((char *)&babeltrace + names[i].offset);

		*function = dlsym(library, names[i].name);
		if (!*function)
			library = NULL;
	}
	return library ? 0 : fail_plain(-ENOENT, "CTF needs Babeltrace's library: install libbabeltrace2-0");
}

/* --- What events look like -------------------------------------------------------------------- */

static bt_field_class *field_class(bt_trace_class *trace_class, enum ctf_type type)
{
	switch (type) {
	case CTF_UNSIGNED:
		return babeltrace.field_class_integer_unsigned_create(trace_class);
	case CTF_SIGNED:
		return babeltrace.field_class_integer_signed_create(trace_class);
	case CTF_STRING:
		break;
	}
	return babeltrace.field_class_string_create(trace_class);
}

static bt_event_class *event_class(bt_trace_class *trace_class, bt_stream_class *stream_class,
				   const struct ctf_kind *kind)
{
	bt_field_class *payload = babeltrace.field_class_structure_create(trace_class);
	bt_event_class *event = babeltrace.event_class_create(stream_class);

	if (!payload || !event)
		return NULL;
	for (unsigned int i = 0; i < kind->field_count; i++) {
		bt_field_class *field = field_class(trace_class, kind->fields[i].type);

		if (!field || babeltrace.field_class_structure_append_member(payload, kind->fields[i].name, field))
			return NULL;
		babeltrace.field_class_put_ref(field);
	}
	if (babeltrace.event_class_set_name(event, kind->name) ||
	    babeltrace.event_class_set_payload_field_class(event, payload))
		return NULL;
	babeltrace.field_class_put_ref(payload);
	return event;
}

/* The stream has one clock and no packets. */
static bt_stream *make_stream(struct source *source, bt_trace_class *trace_class, bt_clock_class *clock)
{
	bt_stream_class *stream_class = babeltrace.stream_class_create(trace_class);
	bt_trace *trace = babeltrace.trace_create(trace_class);
	bt_stream *stream = NULL;
	bool is_good = stream_class && trace;

	if (is_good && !babeltrace.stream_class_set_default_clock_class(stream_class, clock) &&
	    !babeltrace.trace_set_environment_entry_string(trace, "tracer_name", "pinch")) {
		for (unsigned int i = 0; i < source->trace->kind_count && is_good; i++) {
			source->events[i] = event_class(trace_class, stream_class, &source->trace->kinds[i]);
			is_good = source->events[i];
		}
		stream = is_good ? babeltrace.stream_create(stream_class, trace) : NULL;
	}
	if (stream_class)
		babeltrace.stream_class_put_ref(stream_class);
	if (trace)
		babeltrace.trace_put_ref(trace);
	return stream;
}

static bt_component_class_initialize_method_status begin_source(bt_self_component_source *self,
								bt_self_component_source_configuration *configuration,
								const bt_value *parameters, void *data)
{
	struct source *source = data;
	bt_self_component *component = bt_self_component_source_as_self_component(self);
	bt_trace_class *trace_class = babeltrace.trace_class_create(component);
	bt_clock_class *clock = babeltrace.clock_class_create(component);

	(void)configuration;
	(void)parameters;
	if (trace_class && clock && !babeltrace.clock_class_set_name(clock, "monotonic")) {
		babeltrace.clock_class_set_offset(clock, source->trace->offset_s, source->trace->offset_ns);
		source->stream = make_stream(source, trace_class, clock);
	}
	if (trace_class)
		babeltrace.trace_class_put_ref(trace_class);
	if (clock)
		babeltrace.clock_class_put_ref(clock);
	babeltrace.self_component_set_data(component, source);
	if (!source->stream || babeltrace.self_component_source_add_output_port(self, "out", NULL, NULL))
		return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
	return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

/* --- Messages --------------------------------------------------------------------------------- */

static int set_field(bt_field *field, enum ctf_type type, union ctf_value value)
{
	switch (type) {
	case CTF_UNSIGNED:
		babeltrace.field_integer_unsigned_set_value(field, value.number);
		return 0;
	case CTF_SIGNED:
		babeltrace.field_integer_signed_set_value(field, value.signed_number);
		return 0;
	case CTF_STRING:
		break;
	}
	/* Fields are used again, and an empty string leaves in them what they had (2.0.4). */
	return babeltrace.field_string_set_value(field, *value.string ? value.string : "-");
}

static const bt_message *event_message(const struct source *source, bt_self_message_iterator *self,
				       const struct ctf_row *row)
{
	const struct ctf_kind *kind = &source->trace->kinds[row->kind];
	bt_message *message = babeltrace.message_event_create_with_default_clock_snapshot(
		self, source->events[row->kind], source->stream, row->time_ns);
	bt_field *payload;

	if (!message)
		return NULL;
	payload = babeltrace.event_borrow_payload_field(babeltrace.message_event_borrow_event(message));
	for (unsigned int i = 0; i < kind->field_count; i++) {
		bt_field *field = babeltrace.field_structure_borrow_member_field_by_index(payload, i);

		if (set_field(field, kind->fields[i].type, row->values[i]))
			return NULL;
	}
	return message;
}

/* NULL: it could not be made. */
static const bt_message *next_message(struct source *source, bt_self_message_iterator *self)
{
	struct ctf_row row;

	if (!source->has_begun) {
		source->has_begun = true;
		return babeltrace.message_stream_beginning_create(self, source->stream);
	}
	if (ctf_rows_next(source->trace->rows, &row))
		return event_message(source, self, &row);
	source->has_ended = true;
	return babeltrace.message_stream_end_create(self, source->stream);
}

static bt_message_iterator_class_next_method_status next_messages(bt_self_message_iterator *self,
								  bt_message_array_const messages, uint64_t capacity,
								  uint64_t *count)
{
	struct source *source =
		babeltrace.self_component_get_data(babeltrace.self_message_iterator_borrow_component(self));

	if (source->has_ended)
		return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
	for (*count = 0; *count < capacity && !source->has_ended; ++*count) {
		messages[*count] = next_message(source, self);
		if (!messages[*count])
			return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
	}
	return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
}

/* --- The graph -------------------------------------------------------------------------------- */

static const bt_component_source *add_source(bt_graph *graph, struct source *source)
{
	bt_message_iterator_class *iterator = babeltrace.message_iterator_class_create(next_messages);
	bt_component_class_source *class =
		iterator ? babeltrace.component_class_source_create("pinch", iterator) : NULL;
	const bt_component_source *component = NULL;

	if (class && !babeltrace.component_class_source_set_initialize_method(class, begin_source) &&
	    babeltrace.graph_add_source_component_with_initialize_method_data(graph, class, "pinch", NULL, source,
									      BT_LOGGING_LEVEL_NONE, &component))
		component = NULL;
	if (class)
		babeltrace.component_class_source_put_ref(class);
	if (iterator)
		babeltrace.message_iterator_class_put_ref(iterator);
	return component;
}

/* The plugin comes from the system's directory: others may belong to anyone. */
static const bt_component_sink *add_sink(bt_graph *graph, const char *directory)
{
	const bt_component_sink *component = NULL;
	const bt_component_class_sink *class = NULL;
	const bt_plugin *plugin = NULL;
	bt_value *parameters = babeltrace.value_map_create();

	if (!babeltrace.plugin_find("ctf", BT_FALSE, BT_FALSE, BT_TRUE, BT_FALSE, BT_FALSE, &plugin))
		class = babeltrace.plugin_borrow_sink_component_class_by_name_const(plugin, "fs");
	if (class && parameters && !babeltrace.value_map_insert_string_entry(parameters, "path", directory) &&
	    !babeltrace.value_map_insert_bool_entry(parameters, "assume-single-trace", BT_TRUE) &&
	    !babeltrace.value_map_insert_bool_entry(parameters, "quiet", BT_TRUE) &&
	    babeltrace.graph_add_sink_component(graph, class, "ctf", parameters, BT_LOGGING_LEVEL_NONE, &component))
		component = NULL;
	if (parameters)
		babeltrace.value_put_ref(parameters);
	if (plugin)
		babeltrace.plugin_put_ref(plugin);
	return component;
}

static bool run(bt_graph *graph, struct source *source)
{
	const bt_component_source *from = add_source(graph, source);
	const bt_component_sink *to = from ? add_sink(graph, source->trace->directory) : NULL;

	return to &&
	       !babeltrace.graph_connect_ports(
		       graph, babeltrace.component_source_borrow_output_port_by_index_const(from, 0),
		       babeltrace.component_sink_borrow_input_port_by_index_const(to, 0), NULL) &&
	       !babeltrace.graph_run(graph);
}

int babeltrace_write(const struct babeltrace_trace *trace)
{
	struct source source = { .trace = trace };
	bt_graph *graph = babeltrace.graph_create(MIP_VERSION);
	bool is_good = graph && run(graph, &source);

	babeltrace.current_thread_clear_error();
	if (source.stream)
		babeltrace.stream_put_ref(source.stream);
	for (unsigned int i = 0; i < trace->kind_count; i++)
		if (source.events[i])
			babeltrace.event_class_put_ref(source.events[i]);
	if (graph)
		babeltrace.graph_put_ref(graph);
	return is_good ? 0
		       : fail_plain(-EIO, "Babeltrace could not write the trace into %s: is there space left?",
				    trace->directory);
}
