#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Two clean builds of all but the kernel give the same bytes. (The kernel's too: make reproduce.)
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/common.sh"
ok "the userland is there" "$ROOT/image/userland.sh"
said=$("$ROOT/image/reproduce.sh" userland 2>&1)
like "built once more, the same bytes" "$said" '^userland: two builds, [0-9]+ files, the same bytes$'
done_testing
