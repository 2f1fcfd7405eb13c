// SPDX-License-Identifier: GPL-2.0-or-later
// TAP on stdout, comments on failures on stderr.
let count = 0;
let failed = 0;

export function verdict(good, name, comment) {
	count++;
	failed += !good;
	console.log(`${good ? "ok" : "not ok"} ${count} - ${name}`);
	if (!good)
		console.error(`# ${comment}`);
}

export function done() {
	console.log(`1..${count}`);
	process.exit(failed ? 1 : 0);
}
