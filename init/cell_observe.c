/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cell_observe.h"

#include "evidence.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

void cell_observe(struct cell_build *build, long duration_ms)
{
	struct observe_place place = {
	    .sys = "/sys",
	    .proc = "/proc",
	    .nics = &build->net.nics,
	    .nic_count = build->has_net ? build->net.used : 0,
	    .drbd = build->has_drbd,
	    .drbd_port = build->has_drbd && build->peer[0] ? build->drbd.setup.port : 0,
	    .worker = getpid(),
	};

	memcpy(place.disk, build->place.disk, sizeof(place.disk));
	observer_free(build->observer);
	build->observer_fault[0] = '\0';
	build->observer =
	    observer_start(&place, duration_ms, build->observer_fault, sizeof(build->observer_fault));
}

int cell_observe_end(struct cell_build *build, json_t *evidence)
{
	int r = 0;

	observer_stop(build->observer);
	if (evidence && build->observer)
		r = observer_json(build->observer, evidence);
	else if (evidence && build->observer_fault[0])
		r = evidence_note(evidence, build->observer_fault);
	observer_free(build->observer);
	build->observer = NULL;
	return r;
}
