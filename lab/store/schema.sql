-- SPDX-License-Identifier: GPL-2.0-or-later
-- The lab's only memory. Version: PRAGMA user_version (STORE_VERSION in store.c). Times are Unix nanoseconds.

-- The server that runs, or ran last: `assay run` takes the lab from here; a beat older than some seconds: it is not running.
CREATE TABLE server (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	lab TEXT NOT NULL,
	url TEXT NOT NULL,
	pid INTEGER NOT NULL,
	started_unix_ns INTEGER NOT NULL,
	beat_unix_ns INTEGER NOT NULL
) STRICT;

-- One row a token, that is a served iPXE script, with the kernel arguments that a cell asked for in it (boot.cmdline); boot_id
-- and what follows once the node said hello.
CREATE TABLE boots (
	token TEXT PRIMARY KEY,
	node TEXT NOT NULL,
	mac TEXT NOT NULL,
	made_unix_ns INTEGER NOT NULL,
	hello_order INTEGER UNIQUE,
	hello_unix_ns INTEGER,
	boot_id TEXT,
	image_id TEXT,
	uptime_ns INTEGER,
	inventory TEXT,
	run TEXT REFERENCES runs (run),
	block INTEGER,
	states INTEGER NOT NULL DEFAULT 0,
	last_state TEXT,
	arguments TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX boots_node ON boots (node, hello_order);

CREATE TABLE nodes (
	node TEXT PRIMARY KEY,
	group_name TEXT NOT NULL,
	step TEXT NOT NULL,
	text TEXT NOT NULL,
	since_unix_ns INTEGER NOT NULL,
	seen_unix_ns INTEGER NOT NULL
) STRICT;

-- Machines that asked for a boot script and are not in the lab file.
CREATE TABLE strangers (
	mac TEXT PRIMARY KEY,
	uuid TEXT NOT NULL,
	seen_unix_ns INTEGER NOT NULL
) STRICT;

-- scale: what all sizes were multiplied with; acceptance: what is demanded (lab/accept/accept.h); tune: what is tuned step by
-- step (lab/tune/tune.h); each NULL: nothing. as_published: with the mistakes of the experiment that the plan repeats.
-- precision: a cell is left once both halves of its interval are within this share of the median; NULL: all boots are made.
-- imported: what the figures were read from (dd, fio, csv); NULL: measured here.
CREATE TABLE runs (
	run TEXT PRIMARY KEY,
	number INTEGER NOT NULL UNIQUE,
	group_name TEXT NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'failed', 'cancelled')),
	plan_name TEXT NOT NULL,
	question TEXT NOT NULL,
	plan_text TEXT NOT NULL,
	plan_sha256 TEXT NOT NULL,
	lab TEXT NOT NULL,
	nodes INTEGER NOT NULL,
	boots INTEGER NOT NULL,
	samples INTEGER NOT NULL,
	retries INTEGER NOT NULL,
	shuffled INTEGER NOT NULL,
	seed INTEGER NOT NULL,
	peer_ms INTEGER NOT NULL,
	apply_ms INTEGER NOT NULL,
	measure_ms INTEGER NOT NULL,
	created_unix_ns INTEGER NOT NULL,
	started_unix_ns INTEGER,
	ended_unix_ns INTEGER,
	error TEXT,
	scale TEXT,
	acceptance TEXT,
	tune TEXT,
	precision REAL,
	imported TEXT,
	as_published INTEGER NOT NULL DEFAULT 0
) STRICT;

-- enough: the boot after which the cell was as precise as its run asks; NULL: it was not, or was not asked.
CREATE TABLE cells (
	run TEXT NOT NULL REFERENCES runs (run),
	ordinal INTEGER NOT NULL,
	cell_id TEXT NOT NULL,
	state_id TEXT NOT NULL,
	label TEXT NOT NULL,
	fresh INTEGER NOT NULL,
	nodes INTEGER NOT NULL,
	size_bytes INTEGER NOT NULL,
	body TEXT NOT NULL,
	failed INTEGER NOT NULL DEFAULT 0,
	error TEXT,
	enough INTEGER,
	PRIMARY KEY (run, cell_id),
	UNIQUE (run, ordinal)
) STRICT;

CREATE TABLE visits (
	run TEXT NOT NULL,
	position INTEGER NOT NULL,
	boot INTEGER NOT NULL,
	cell_id TEXT NOT NULL,
	PRIMARY KEY (run, position),
	UNIQUE (run, boot, cell_id),
	FOREIGN KEY (run, cell_id) REFERENCES cells (run, cell_id)
) STRICT;

-- A sample being tried. At most one is open in a group.
CREATE TABLE attempts (
	run TEXT NOT NULL,
	cell_id TEXT NOT NULL,
	boot INTEGER NOT NULL,
	sample INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	state TEXT NOT NULL CHECK (state IN ('open', 'valid', 'invalid', 'failed', 'abandoned')),
	rebuild INTEGER NOT NULL,
	opened_unix_ns INTEGER NOT NULL,
	closed_unix_ns INTEGER,
	reason TEXT,
	error TEXT,
	PRIMARY KEY (run, cell_id, boot, sample, attempt),
	FOREIGN KEY (run, boot, cell_id) REFERENCES visits (run, boot, cell_id)
) STRICT;
-- What "no sample doubled" means, enforced.
CREATE UNIQUE INDEX attempts_valid ON attempts (run, cell_id, boot, sample) WHERE state = 'valid';
CREATE UNIQUE INDEX attempts_open ON attempts (run) WHERE state = 'open';

CREATE TABLE assignments (
	run TEXT NOT NULL,
	cell_id TEXT NOT NULL,
	boot INTEGER NOT NULL,
	sample INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	node TEXT NOT NULL,
	role TEXT NOT NULL CHECK (role IN ('measure', 'peer')),
	token TEXT NOT NULL REFERENCES boots (token),
	PRIMARY KEY (run, cell_id, boot, sample, attempt, node),
	FOREIGN KEY (run, cell_id, boot, sample, attempt) REFERENCES attempts (run, cell_id, boot, sample, attempt)
) STRICT;

-- verdict is the node's, unless the lab found the result to contradict what it knows: then invalid, and reason says why.
CREATE TABLE results (
	run TEXT NOT NULL,
	cell_id TEXT NOT NULL,
	boot INTEGER NOT NULL,
	sample INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	node TEXT NOT NULL,
	role TEXT NOT NULL,
	verdict TEXT NOT NULL CHECK (verdict IN ('valid', 'invalid', 'failed')),
	reason TEXT,
	measured_bytes INTEGER,
	measured_ns INTEGER,
	sha256 TEXT NOT NULL,
	body BLOB NOT NULL,
	committed_unix_ns INTEGER NOT NULL,
	PRIMARY KEY (run, cell_id, boot, sample, attempt, node),
	FOREIGN KEY (run, cell_id, boot, sample, attempt, node)
		REFERENCES assignments (run, cell_id, boot, sample, attempt, node)
) STRICT;

-- What nodes brought and what the lab decided, each link's hash covering the one before (lab/store/chain.h).
CREATE TABLE chain (
	n INTEGER PRIMARY KEY,
	at_unix_ns INTEGER NOT NULL,
	kind TEXT NOT NULL,
	run TEXT NOT NULL,
	node TEXT NOT NULL,
	content TEXT NOT NULL,
	sha256 TEXT NOT NULL
) STRICT;

-- What was not accepted, byte for byte.
CREATE TABLE refused (
	id INTEGER PRIMARY KEY,
	at_unix_ns INTEGER NOT NULL,
	node TEXT,
	request TEXT NOT NULL,
	path TEXT NOT NULL,
	message TEXT NOT NULL,
	body BLOB NOT NULL
) STRICT;

CREATE TABLE errors (
	id INTEGER PRIMARY KEY,
	at_unix_ns INTEGER NOT NULL,
	run TEXT REFERENCES runs (run),
	group_name TEXT,
	node TEXT NOT NULL,
	scope TEXT NOT NULL,
	body TEXT NOT NULL
) STRICT;

-- Every reboot that was asked for.
CREATE TABLE reboots (
	id INTEGER PRIMARY KEY,
	at_unix_ns INTEGER NOT NULL,
	run TEXT NOT NULL REFERENCES runs (run),
	node TEXT NOT NULL,
	token TEXT NOT NULL,
	reason TEXT NOT NULL
) STRICT;

CREATE TABLE pstore (
	token TEXT NOT NULL REFERENCES boots (token),
	node TEXT NOT NULL,
	name TEXT NOT NULL,
	text TEXT NOT NULL,
	PRIMARY KEY (token, name)
) STRICT;
