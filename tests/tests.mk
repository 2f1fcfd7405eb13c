# SPDX-License-Identifier: GPL-2.0-or-later
# make check: everything, in the order in which a fault is cheapest to find.

TEST_OUT      := $(OUT)/tests
UNIT_PROGRAMS := $(UNIT_TESTS)
SCRIPTS       := $(shell git ls-files '*.sh' '*.t' .ci/run image/musl-cc 2>/dev/null)
C_SOURCES      = $(filter %.c %.h,$(shell git ls-files init lab results-schema tests))
YAML_SOURCES   = $(filter-out tests/data/% tests/fuzz/%,$(shell git ls-files '*.yaml'))

# Too long for every check: each waits out the lab's deadlines or the kernel's; and legs.t, whose black hole is not always told with its
# size. `make check-faults` has them.
LONG_FAULTS   := tests/boot/hang.t tests/boot/legs.t tests/faults/nodes.t
LONG_LAB      := tests/boot/firmware.t tests/boot/kernel-operator.t

## check: everything: lint, units under sanitizers, schemas, plans, image, virtual lab, boot tests
check: lint image layers lab $(NIC_TARGETS) $(UNIT_PROGRAMS) fuzz-short
	tests/harness.pl \
	    unit=2:120 $(UNIT_PROGRAMS) \
	    schema=1:180 $(wildcard tests/schema/*.t) \
	    plan=2:180 $(wildcard tests/plan/*.t) \
	    compare=2:180 $(wildcard tests/compare/*.t) \
	    report=1:180 $(wildcard tests/report/*.t) \
	    export=1:180 $(wildcard tests/export/*.t) \
	    docs=1:300 $(wildcard tests/docs/*.t) \
	    serve=2:300 $(wildcard tests/serve/*.t) \
	    power=2:300 $(wildcard tests/power/*.t) \
	    image=1:900 $(wildcard tests/image/*.t) \
	    virtual=1:600 $(wildcard tests/virtual/*.t) \
	    boot=2:1200 $(filter-out $(LONG_FAULTS) $(LONG_LAB),$(wildcard tests/boot/*.t)) \
	    faults=1:1800 $(filter-out $(LONG_FAULTS),$(wildcard tests/faults/*.t))

## check-matrix: every plan of tests/matrix, scaled, in a virtual lab; one to two hours, goes on where it was
check-matrix: need-root image layers lab $(NIC_TARGETS)
	tests/matrix.sh

## check-faults: N random interruptions (1000) of short runs, all that follows from SEED, and real nodes that hang or fail
check-faults: need-root image lab $(NIC_TARGETS)
	N=$(or $(N),1000) SEED=$(or $(SEED),1) tests/harness.pl faults=1:14400 tests/faults/sim.t $(LONG_FAULTS)

## check-lab: what takes too long for every check: each way to boot (BIOS, UEFI, HTTP, beside a DHCP server …), a kernel of the operator's
check-lab: need-root image layers lab $(NIC_TARGETS)
	tests/harness.pl boot=1:1200 $(LONG_LAB)

## check-units: only the unit tests
check-units: $(UNIT_PROGRAMS)
	tests/harness.pl unit=2:120 $(UNIT_PROGRAMS)

## lint: format, cppcheck, shellcheck, yamllint
lint:
	@clang-format --dry-run --Werror $(C_SOURCES)
	@cppcheck --quiet --std=c11 --enable=warning,portability,performance --inline-suppr --error-exitcode=1 \
	    --suppress=missingIncludeSystem '-Djson_array_foreach(a, i, v)=for (i = 0; (v = json_array_get(a, i)); i++)' \
	    '-Djson_object_foreach(o, n, v)=for (n = ""; (v = json_object_get(o, n));)' -Iresults-schema -Iinit -Ilab -Ilab/plan $(filter %.c,$(C_SOURCES))
	@shellcheck -x $(SCRIPTS)
	@yamllint --strict -c tests/yamllint.yaml $(YAML_SOURCES)
	@echo "lint: clean"

.PHONY: check check-faults check-lab check-matrix check-units lint
