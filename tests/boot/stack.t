#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
. "$(dirname "$0")/lib.sh"
lab_new stack --disk-bytes 1073741824
serve_start
"$VLAB" start "$LAB" n1 n2
run_plan tests/boot/stack.yaml
is 'every cell is valid' "$RUN_STATUS" 0
done_testing
