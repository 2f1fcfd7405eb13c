// SPDX-License-Identifier: GPL-2.0-or-later
// JSON lines hold what report --json holds, and what they add. usage: jsonl.mjs LINES REPORT
import assert from "node:assert";
import { readFileSync } from "node:fs";

const lines = readFileSync(process.argv[2], "utf8").trimEnd().split("\n").map((line) => JSON.parse(line));
const report = JSON.parse(readFileSync(process.argv[3], "utf8"));
const of = (type, ...added) => lines.filter((line) => line.type === type).map((line) => {
	for (const key of ["type", ...added]) {
		assert(line[key] !== undefined, `${type} has ${key}`);
		delete line[key];
	}
	return line;
});
const attempts = of("attempt", "ordinal", "boot", "sample", "attempt", "begun_unix_ns");
assert.deepStrictEqual(of("run"), [report.run]);
assert.deepStrictEqual(of("cell", "state", "workload"), report.cells);
assert.deepStrictEqual(of("sample"), report.samples);
assert.deepStrictEqual(attempts.map((a) => [a.state, a.reason ?? a.error.step]),
	[["invalid", "n1: eth0 went down & \"up\""], ["failed", "apply"], ["failed", "bond"], ["abandoned", "sample"]]);
assert.strictEqual(lines.length, 1 + report.cells.length + report.samples.length + 4);
