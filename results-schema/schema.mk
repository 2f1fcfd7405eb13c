# SPDX-License-Identifier: GPL-2.0-or-later
# The schemas as C source, for programs of the lab and of the node alike.
$(OUT)/gen/schema_texts.c: results-schema/embed.sh $(sort $(wildcard results-schema/*.json))
	@mkdir -p $(@D)
	$(call say,EMBED,$@)results-schema/embed.sh $(filter %.json,$^) > $@
