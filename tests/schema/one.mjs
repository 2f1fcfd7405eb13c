// SPDX-License-Identifier: GPL-2.0-or-later
// Whether FILE is as results-schema/SCHEMA says, judged by ajv: exit code 0, or 1 and why.
// usage: one.mjs FOLDER-WITH-node_modules SCHEMA FILE
import { createRequire } from "node:module";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

const [modules, schema, file] = process.argv.slice(2);
const Ajv2020 = createRequire(join(modules, "package.json"))("ajv/dist/2020").default;
const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, strictTypes: false });
const read = (path) => JSON.parse(readFileSync(path, "utf8"));

for (const name of readdirSync("results-schema").filter((n) => n.endsWith(".json")))
	ajv.addSchema(read(join("results-schema", name)), name);
const validate = ajv.getSchema(schema);
if (!validate(read(file))) {
	console.error(ajv.errorsText(validate.errors));
	process.exit(1);
}
