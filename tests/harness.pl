#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Runs TAP tests, two at a time where the folder allows it, and ends with "N passed, N failed[, N skipped]".
# usage: harness.pl SUITE=JOBS:SECONDS FILE… [SUITE=JOBS:SECONDS FILE…] …
# A file is a .t script or a cmocka program. SECONDS bounds each file. A time-out, a file that ends badly, a wrong plan or a
# skip makes the run fail.
use strict;
use warnings;
use TAP::Harness;

my (@suites, $passed, $failed, $skipped);
for (@ARGV) {
	if (/^([a-z-]+)=(\d+):(\d+)$/) { push @suites, { name => $1, jobs => $2, seconds => $3, files => [] } }
	else { push @{ $suites[-1]{files} }, $_ }
}
$passed = $failed = $skipped = 0;
$ENV{CMOCKA_MESSAGE_OUTPUT} = 'TAP';
for my $s (@suites) {
	if (!@{ $s->{files} }) { print "# $s->{name}: no tests found\n"; $failed++; next }
	print "# $s->{name}\n";
	my @limit = ('timeout', '--kill-after=20', $s->{seconds});
	my $harness = TAP::Harness->new({
		jobs => $s->{jobs}, timer => 1, failures => 1, comments => 0, merge => 0, color => 0,
		verbosity => $ENV{VERBOSE} ? 1 : 0,
		exec => sub { my ($h, $file) = @_; [@limit, $file =~ /\.t$/ ? ('bash', $file) : $file] },
	});
	my $total = $harness->runtests(@{ $s->{files} });
	$skipped += $total->skipped;
	$passed  += $total->passed - $total->skipped;
	my $bad = $total->failed;
	# A file that died, timed out or broke its plan counts as one failure even if its last line was "ok".
	for my $file ($total->descriptions) {
		my ($parser) = $total->parsers($file);
		$bad++ if $parser->has_problems && !$parser->failed;
	}
	$failed += $bad;
}
printf "%d passed, %d failed%s\n", $passed, $failed, $skipped ? ", $skipped skipped" : "";
exit($failed || $skipped || !$passed ? 1 : 0);
