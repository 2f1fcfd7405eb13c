// SPDX-License-Identifier: GPL-2.0-or-later
// Every expression of the dashboard is PromQL, as Prometheus's own grammar has it, of metrics that there are.
// usage: promql.mjs FOLDER-WITH-node_modules DASHBOARD METRICS
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const require = createRequire(join(process.argv[2], "package.json"));
const { parser } = require("@prometheus-io/lezer-promql");
const dashboard = JSON.parse(readFileSync(process.argv[3], "utf8"));
const known = new Set(readFileSync(process.argv[4], "utf8").split("\n").filter((line) => line && line[0] !== "#").map((line) => line.match(/^\w+/)[0]));

// The metrics that TEXT asks for; null: it is no PromQL.
function metricsOf(text) {
	const names = [];
	let wrong = false;
	parser.parse(text).iterate({ enter: (node) => {
		wrong ||= node.type.isError;
		if (node.name === "VectorSelector")
			names.push(text.slice(node.from, node.to).match(/^\w+/)[0]);
	} });
	return wrong ? null : names;
}

const expressions = dashboard.panels.flatMap((panel) => panel.targets.map((target) => target.expr));
const bad = expressions.filter((e) => !metricsOf(e)?.length || metricsOf(e).some((name) => !known.has(name)));
if (expressions.length < 8 || bad.length || metricsOf("sum by (x (a)") !== null) {
	console.error(JSON.stringify({ expressions: expressions.length, bad, known: [...known] }));
	process.exit(1);
}
console.log(`${expressions.length} expressions`);
