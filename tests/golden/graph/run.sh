#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Usage: run.sh GRAPH_REPLAY. Compares what each scenario gives with its .expect: ../scenarios.sh.
# shellcheck disable=SC2034 # scenarios.sh takes it
replay=${1:?Usage: run.sh GRAPH_REPLAY}
dir=$(dirname "$0")
. "$dir/../scenarios.sh"

compare_all "$dir"
finish
