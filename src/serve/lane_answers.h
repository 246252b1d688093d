/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the page draws of lanes and asks about a place in them. Times are ns since the first event; lanes: by their places, such as 0-5,9. */
#pragma once

#include <stdbool.h>

struct reply;
struct request;
struct viewed;

/* Lanes are called by their places among those with a key: whether the parameter of is another one. */
bool lane_answers_are_of_others(const struct viewed *viewed, const struct request *request);

/* tile.h; shift, index, lanes, and part_choices.h. */
void lane_answer_tiles(struct viewed *viewed, const struct request *request, struct reply *reply);

/* What a thread did at the parameter time, and why: state_json.h; thread: its number, or lane. */
void lane_answer_slice(struct viewed *viewed, const struct request *request, struct reply *reply);

/* All waits for the same as the one of that thread at that time, that lie between from and to. */
void lane_answer_alike(struct viewed *viewed, const struct request *request, struct reply *reply);

/* Events of programs' own, and the wake-ups that a script chooses: from, to, lanes, script. */
void lane_answer_marks(struct viewed *viewed, const struct request *request, struct reply *reply);

/* How lanes spent the time between from and to; part_choices.h. */
void lane_answer_stretch(struct viewed *viewed, const struct request *request, struct reply *reply);
