/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes a history of states of a scenario (scenario.h), and says what it is asked. Lines that are
 * not events:
 *
 *	spins IP		a thread that is sampled at this ip waits in a loop
 *	finish NS		end the history there (default: at the last event)
 *	states THREAD [FROM TO]	what it did
 *	cpu N [FROM TO]		who had it
 *	shares THREAD [FROM TO]	how much of its time it spent how
 *	graph THREAD [FROM TO] [depth=N]
 *	path THREAD [FROM TO]	the critical path
 *
 * Answers come in the order of the questions, wherever these stand.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "account/criticality.h"
#include "base/text.h"
#include "graph_print.h"
#include "scenario.h"
#include "session/session.h"
#include "session/threads.h"
#include "states/activity.h"
#include "states/state_log.h"
#include "states/states.h"
#include "trace/trace_writer.h"
#include "waits/files.h"
#include "waits/others.h"

enum { QUESTIONS_MAX = 32, PENDING_BYTES_MAX = 1 << 20 };

static const struct answer {
	const char *word;
	void (*print)(struct states *states, const struct question *question);
} answers[] = {
	{ "states", print_states }, { "cpu", print_cpu },   { "shares", print_shares },
	{ "graph", print_graph },   { "path", print_path },
};

struct replay {
	char path[64]; /* of the history, in memory */
	int fd;
	struct trace_writer *writer;
	struct session *session;
	struct threads *threads;
	struct files *files;
	struct others *others;
	struct criticality *criticality;
	struct state_log *log;
	struct activity_log *activities;
	uint64_t last_ns, finish_ns, spin_ip;
	struct {
		const struct answer *answer;
		struct text line;
		struct question question;
	} questions[QUESTIONS_MAX];
	size_t question_count;
};

static bool is_spinning(void *data, const struct thread *thread, uint64_t time_ns, const struct ev_sched_sample *e,
			const struct ev_sched_sample *before)
{
	const struct replay *replay = data;

	(void)thread;
	(void)time_ns;
	(void)before;
	return replay->spin_ip && e->ip == replay->spin_ip && !e->kernel_ip;
}

/* As trace_states_make.c does. */
static void begin(struct replay *replay)
{
	replay->fd = memfd_create("states", MFD_CLOEXEC);
	snprintf(replay->path, sizeof(replay->path), "/proc/self/fd/%d", replay->fd);
	if (replay->fd < 0 || trace_writer_open(replay->path, &replay->writer))
		scenario_stop("there is no room for a history");
	replay->session = session_new(SCENARIO_STREAMS, PENDING_BYTES_MAX);
	replay->threads = threads_new(replay->session);
	replay->files = files_new(replay->session, 0);
	replay->others = others_new(replay->session);
	replay->log = state_log_new(replay->writer, &(struct state_log_options){
							    .threads = replay->threads,
							    .files = replay->files,
							    .others = replay->others,
						    });
	replay->criticality = criticality_new(replay->session, replay->threads,
					      &(struct criticality_options){
						      .listener = state_log_listener(replay->log),
						      .is_of_all = true,
						      .is_spinning = is_spinning,
						      .spin_data = replay,
					      });
	state_log_subscribe(replay->log, replay->session);
	replay->activities = activity_log_new(replay->session, replay->writer);
}

static void end(struct replay *replay)
{
	uint64_t end_ns = replay->finish_ns ? replay->finish_ns : replay->last_ns;

	session_finish(replay->session);
	state_log_finish(replay->log, end_ns);
	activity_log_finish(replay->activities, end_ns);
	activity_log_free(replay->activities);
	criticality_free(replay->criticality);
	state_log_free(replay->log);
	others_free(replay->others);
	files_free(replay->files);
	threads_free(replay->threads);
	session_free(replay->session);
	if (trace_writer_close(replay->writer))
		scenario_stop("the history could not be written");
}

static void push(struct replay *replay, const char *ns)
{
	struct scenario_event e;

	scenario_read_event(ns, &e);
	if (e.event.header.time_ns > replay->last_ns)
		replay->last_ns = e.event.header.time_ns;
	if (session_push(replay->session, e.stream, &e.event, e.size_bytes))
		scenario_stop("this is no event");
}

/* The rest of a question, which the answer repeats. */
static void ask(struct replay *replay, const struct answer *answer)
{
	struct question question = { .to_ns = UINT64_MAX };
	const char *word = scenario_word("whom the question is about");
	struct text line = { 0 };

	question.who = scenario_thread(word);
	text_printf(&line, "%s %s", answer->word, word);
	for (int i = 0; (word = strtok(NULL, " \t\n")); i++) {
		if (!strncmp(word, "depth=", 6))
			question.depth_max = scenario_number(word + 6);
		else
			*(i ? &question.to_ns : &question.from_ns) = scenario_number(word);
		text_printf(&line, " %s", word);
	}
	if (replay->question_count == QUESTIONS_MAX)
		scenario_stop("too many questions");
	replay->questions[replay->question_count].answer = answer;
	replay->questions[replay->question_count].line = line;
	replay->questions[replay->question_count++].question = question;
}

static void on_word(void *data, const char *word)
{
	struct replay *replay = data;

	for (size_t i = 0; i < sizeof(answers) / sizeof(*answers); i++) {
		if (strcmp(answers[i].word, word) != 0)
			continue;
		ask(replay, &answers[i]);
		return;
	}
	if (!strcmp(word, "finish"))
		replay->finish_ns = scenario_number(scenario_word("the time"));
	else if (!strcmp(word, "spins"))
		replay->spin_ip = scenario_number(scenario_word("the ip"));
	else
		push(replay, word);
}

int main(int argc, char **argv)
{
	struct replay replay = { .fd = -1 };
	struct states *states;

	if (argc != 2)
		return fprintf(stderr, "Usage: graph_replay SCENARIO\n"), 2;
	begin(&replay);
	scenario_read(argv[1], on_word, &replay);
	end(&replay);
	if (states_open(replay.path, &states))
		scenario_stop("the history cannot be read");
	for (size_t i = 0; i < replay.question_count; i++) {
		printf("%s\n", replay.questions[i].line.bytes);
		replay.questions[i].answer->print(states, &replay.questions[i].question);
		text_fini(&replay.questions[i].line);
	}
	states_close(states);
	close(replay.fd);
	return 0;
}
