// SPDX-License-Identifier: GPL-2.0-or-later
// OCP Test & Validation output 2.0, judged by what is required of it (the table below, which stands alone) and, where they
// are at hand, by the published schemas. Streams are one after the other. TAP on stdout.
// usage: ocp.mjs FOLDER-WITH-node_modules SCHEMAS|"" FILE…
import { createRequire } from "node:module";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { done, verdict } from "../tap.mjs";

const require = createRequire(join(process.argv[2], "package.json"));
const Ajv2020 = require("ajv/dist/2020").default;
const schemas = process.argv[3];

const required = {
	testRunStart: ["name", "version", "commandLine", "parameters", "dutInfo"], testRunEnd: ["status", "result"],
	testStepStart: ["name"], testStepEnd: ["status"], measurement: ["name", "value"],
	measurementSeriesStart: ["name", "measurementSeriesId"], measurementSeriesEnd: ["measurementSeriesId", "totalCount"],
	measurementSeriesElement: ["index", "value", "timestamp", "measurementSeriesId"], error: ["symptom"],
	log: ["severity", "message"], diagnosis: ["verdict", "type"], file: ["displayName", "uri", "isSnapshot"],
	extension: ["name", "content"],
};
const runKinds = ["testRunStart", "testRunEnd", "log", "error"];
const enums = {
	"testRunEnd.status": ["COMPLETE", "ERROR", "SKIP"], "testStepEnd.status": ["COMPLETE", "ERROR", "SKIP"],
	"testRunEnd.result": ["PASS", "FAIL", "NOT_APPLICABLE"], "diagnosis.type": ["PASS", "FAIL", "UNKNOWN"],
	"log.severity": ["INFO", "DEBUG", "WARNING", "ERROR", "FATAL"],
};
const time = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const hasNull = (value) => value === null || (typeof value === "object" && Object.values(value).some(hasNull));

// One line's faults, by the table.
function faults(line, place) {
	const found = [];
	const artifact = line.testRunArtifact ?? line.testStepArtifact;
	if (line.sequenceNumber !== place)
		found.push(`sequenceNumber ${line.sequenceNumber}, not ${place}`);
	if (!time.test(line.timestamp))
		found.push(`timestamp ${line.timestamp}`);
	if (hasNull(line))
		found.push("null");
	if ((place === 0) !== (line.schemaVersion?.major === 2 && line.schemaVersion?.minor === 0))
		found.push("schemaVersion comes first, and once");
	if (place === 0)
		return found;
	const kinds = Object.keys(artifact ?? {}).filter((key) => key !== "testStepId");
	const kind = kinds[0];
	if (kinds.length !== 1 || !required[kind])
		return [...found, `artifact of ${kinds}`];
	if (line.testRunArtifact ? !runKinds.includes(kind) : kind.startsWith("testRun") || typeof artifact.testStepId !== "string")
		found.push(`${kind} is not here`);
	for (const key of required[kind].filter((key) => artifact[kind][key] === undefined))
		found.push(`${kind} has no ${key}`);
	for (const [name, values] of Object.entries(enums))
		if (name.startsWith(`${kind}.`) && !values.includes(artifact[kind][name.split(".")[1]]))
			found.push(`${name} is ${artifact[kind][name.split(".")[1]]}`);
	return found;
}

// What lines say together.
function together(lines) {
	const found = [];
	const open = new Map();
	const series = new Map();
	let fail = false;
	const of = (line) => Object.entries(line.testRunArtifact ?? line.testStepArtifact ?? {}).find(([key]) => key !== "testStepId") ?? [];
	for (const line of lines.slice(1)) {
		const [kind, value] = of(line);
		const step = line.testStepArtifact?.testStepId;
		if (kind === "testStepStart")
			open.has(step) ? found.push(`${step} starts again`) : open.set(step, true);
		else if (step !== undefined && open.get(step) !== true)
			found.push(`${kind} outside of ${step}`);
		if (kind === "testStepEnd")
			open.set(step, false);
		fail ||= kind === "diagnosis" && value.type === "FAIL";
		if (kind === "measurementSeriesStart")
			series.set(value.measurementSeriesId, 0);
		if (kind === "measurementSeriesElement") {
			if (series.get(value.measurementSeriesId) !== value.index)
				found.push(`element ${value.index} of ${value.measurementSeriesId}`);
			series.set(value.measurementSeriesId, value.index + 1);
		}
		if (kind === "measurementSeriesEnd" && series.get(value.measurementSeriesId) !== value.totalCount)
			found.push(`${value.totalCount} elements of ${value.measurementSeriesId}`);
		if (kind === "measurement" && value.validators?.some((v) => typeof v.value === "object"))
			found.push("a validator's value that the schemas reject");
	}
	if ([...open.values()].includes(true))
		found.push("a step without an end");
	if (of(lines[1])[0] !== "testRunStart" || of(lines.at(-1))[0] !== "testRunEnd")
		found.push("no start or no end");
	const end = of(lines.at(-1))[1];
	if (end && (end.status === "COMPLETE" ? end.result !== (fail ? "FAIL" : "PASS") : end.result !== "NOT_APPLICABLE"))
		found.push(`${end.status} with ${end.result}`);
	return found;
}

function streamsOf(text) {
	const streams = [];
	for (const line of text.trimEnd().split("\n").map((l) => JSON.parse(l))) {
		if (line.schemaVersion)
			streams.push([]);
		streams.at(-1).push(line);
	}
	return streams;
}

let validate = null;
if (schemas && existsSync(join(schemas, "root.json"))) {
	const ajv = new Ajv2020({ allErrors: true, strict: false });
	ajv.addFormat("date-time", time);
	for (const file of readdirSync(schemas).filter((name) => name.endsWith(".json")))
		ajv.addSchema(JSON.parse(readFileSync(join(schemas, file), "utf8")));
	validate = ajv.getSchema("https://github.com/opencomputeproject/ocp-diag-core/output");
	verdict(validate !== undefined && !validate({ sequenceNumber: 0, timestamp: "2026-01-01T00:00:00Z", testRunArtifact: { testRunEnd: { status: "COMPLETE" } } }),
		"the published schemas find what is wrong", "they took a testRunEnd without result");
} else {
	console.error("# the published schemas are not at hand (ASSAY_OCP_SCHEMAS): judged by our own table alone");
}

for (const file of process.argv.slice(4)) {
	const streams = streamsOf(readFileSync(file, "utf8"));
	for (const lines of streams) {
		const found = [...lines.flatMap((line, i) => faults(line, i)), ...together(lines)];
		verdict(found.length === 0, `${file}: what is required is there`, found.join("; "));
		if (validate) {
			const bad = lines.filter((line) => !validate(line));
			verdict(bad.length === 0, `${file}: the published schemas agree`, bad.length && (validate(bad[0]), JSON.stringify([bad[0], validate.errors])));
		}
	}
}

// What finds nothing must be able to.
const line = (n, body) => ({ sequenceNumber: n, timestamp: "2026-01-01T00:00:00Z", ...body });
const start = line(1, { testRunArtifact: { testRunStart: { name: "x", version: "1", commandLine: "", parameters: {}, dutInfo: { dutInfoId: "d" } } } });
const first = line(0, { schemaVersion: { major: 2, minor: 0 } });
const end = (n, status, result) => line(n, { testRunArtifact: { testRunEnd: { status, result } } });
verdict(together([first, start, end(2, "COMPLETE", "PASS")]).length === 0, "the least stream is well", "");
verdict(together([first, start, end(2, "ERROR", "PASS")]).length > 0, "ERROR with PASS is found", "");
verdict(faults(line(3, { testStepArtifact: { testStepId: "s", diagnosis: { verdict: "v", type: "MAYBE" } } }), 3).length > 0, "so is an unknown type", "");
verdict(faults(line(3, { testStepArtifact: { testStepId: "s", measurement: { name: "v", value: 1, unit: null } } }), 3).length > 0, "and a null", "");
verdict(faults(line(3, { testRunArtifact: { file: { displayName: "", uri: "", isSnapshot: true } } }), 3).length > 0, "and a file outside of a step", "");
done();
