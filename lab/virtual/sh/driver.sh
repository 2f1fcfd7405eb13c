# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash disable=SC2034
# What run.sh and play.sh share: a lab with its server in it.

HOME_VIRTUAL=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
ROOT=$(cd "$HOME_VIRTUAL/../.." && pwd)
LAB=$HOME_VIRTUAL/lab.sh
ASSAY=${ASSAY:-$ROOT/out/assay}
IMAGE=${IMAGE:-$ROOT/out}

fail() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

driver_check() {
	[ "$(id -u)" = 0 ] || fail "the virtual lab needs root: sudo make $1"
	[ -x "$ASSAY" ] || fail "there is no $ASSAY (make lab)"
	[ -f "$IMAGE/vmlinuz" ] || fail "there is no $IMAGE/vmlinuz (make image)"
}

# driver_up DIR [OPTION…]: the lab, its lab file and its server, which is left running; its pid is in SERVER
driver_up() {
	local dir=$1
	shift
	"$LAB" down "$dir"
	"$LAB" up "$dir" --kernel "$IMAGE/vmlinuz" "$@"
	rm -f "$dir"/*.serial "$dir/serve.log"
	"$LAB" lab-file "$dir" >"$dir/lab.yaml"
	server_start "$dir"
}

server_start() {
	local dir=$1 end=$((SECONDS + 20))
	# `exec` becomes the server, so this is its pid; lab.sh down knows it by this file, should we be killed.
	"$LAB" exec "$dir" "$ASSAY" serve "$dir/lab.yaml" --db "$dir/assay.db" --image "$IMAGE" \
		</dev/null >>"$dir/serve.log" 2>&1 &
	SERVER=$!
	echo $SERVER >"$dir/serve.pid"
	until "$LAB" exec "$dir" bash -c ': </dev/tcp/10.77.0.1/8080' 2>/dev/null; do
		kill -0 $SERVER 2>/dev/null || fail "assay serve ended: $(tail -n 3 "$dir/serve.log")"
		[ $SECONDS -lt $end ] || fail "assay serve does not answer (log: $dir/serve.log)"
		sleep 0.1
	done
}

# The server gets time to close its store; down ends whatever is left.
driver_down() {
	local dir=$1 end=$((SECONDS + 5))
	if [ -n "${SERVER:-}" ]; then
		kill -TERM "$SERVER" 2>/dev/null || :
		while kill -0 "$SERVER" 2>/dev/null && [ $SECONDS -lt $end ]; do
			sleep 0.1
		done
	fi
	"$LAB" down "$dir"
}
