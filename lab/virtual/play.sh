#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck source-path=SCRIPTDIR
# make virtual: a lab to play with, until Ctrl-C or `make virtual-down`.
# usage: play.sh [DIR [OPTION of lab.sh up…]]           (default: out/virtual)
set -euo pipefail
# shellcheck source=sh/driver.sh
. "$(dirname "${BASH_SOURCE[0]}")/sh/driver.sh"

dir=$(realpath -m "${1:-$ROOT/out/virtual}")
shift $(($# < 1 ? $# : 1))

main() {
	driver_check virtual
	mkdir -p "$dir"
	trap 'driver_down "$dir"' EXIT
	trap 'exit 0' INT TERM HUP
	driver_up "$dir" "$@"
	# shellcheck disable=SC2046
	"$LAB" start "$dir" $(sed -n 's/^  \(n[0-9]*\):$/\1/p' "$dir/lab.yaml")
	how_to
	# Until the server ends or somebody ends us.
	wait "$SERVER" || :
	echo "the lab's server ended (log: $dir/serve.log)" >&2
}

how_to() {
	cat <<X

The lab is up. In another shell, as root:
  measure          $ASSAY run tests/matrix/smoke.yaml --db $dir/assay.db --group pair1   (and, as it says, --wipe TOKEN)
  look             $ASSAY status --db $dir/assay.db;  $LAB status $dir
  a node's console $LAB console $dir n1         (leave with Ctrl-])
  cables, power    $LAB link $dir n1 1 off;  $LAB stop $dir n2;  $LAB help
  inside           $LAB exec $dir bash          (the server's network)
End it with Ctrl-C here, or with: make virtual-down
X
}

main "$@"
