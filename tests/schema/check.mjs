// SPDX-License-Identifier: GPL-2.0-or-later
// Every example against its schema, judged by ajv: valid ones pass, invalid ones fail, and one of the errors is at
// the JSON pointer that the .path file has. TAP on stdout. usage: check.mjs FOLDER-WITH-node_modules
import { createRequire } from "node:module";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { done, verdict } from "../tap.mjs";

const require = createRequire(join(process.argv[2], "package.json"));
const Ajv2020 = require("ajv/dist/2020").default;
const folder = "results-schema";
const ajv = new Ajv2020({ allErrors: true, strict: true, strictRequired: false, strictTypes: false });

const read = (path) => JSON.parse(readFileSync(path, "utf8"));
const escape = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");

// Ours names an unknown or ill-named key itself, ajv the object that it is in.
function place(error) {
	const name = error.params.additionalProperty ?? error.params.propertyName ?? error.propertyName;
	return name === undefined ? error.instancePath : `${error.instancePath}/${escape(name)}`;
}

for (const file of readdirSync(folder).filter((name) => name.endsWith(".json")).sort())
	ajv.addSchema(read(join(folder, file)), file);
for (const file of readdirSync(folder).filter((name) => name.endsWith(".json")).sort())
	verdict(ajv.getSchema(file) !== undefined, `${file} is a schema`);

for (const kind of ["valid", "invalid"]) {
	const examples = join(folder, "examples", kind);
	for (const file of readdirSync(examples).filter((name) => name.endsWith(".json")).sort()) {
		const validate = ajv.getSchema(`${file.split("--")[0]}.json`);
		const good = validate(read(join(examples, file)));
		const places = (validate.errors ?? []).map(place);
		if (kind === "valid") {
			verdict(good, file, ajv.errorsText(validate.errors));
			continue;
		}
		const wanted = readFileSync(join(examples, file.replace(/\.json$/, ".path")), "utf8").trimEnd();
		verdict(!good && places.includes(wanted), file, `wanted "${wanted}", got ${JSON.stringify(places)}`);
	}
}
done();
