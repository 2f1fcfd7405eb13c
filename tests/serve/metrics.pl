#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# GET /metrics of `assay serve --metrics`, after a run: strict OpenMetrics as prometheus_client (Debian) reads it, with what the
# database has; and the dashboard asks for nothing else.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Lab;
use Test::More;

my $lab = Lab->new;
my $label = 'raw "quoted" \\ and more';
$lab->serve;
is($lab->request('GET', '/metrics')->{status}, 404, 'nothing is told unless the operator says so');
$lab->end($lab->{server});
$lab->serve('--metrics');
$lab->spawn('n1', "$FindBin::Bin/node.pl", $lab->{url}, '52:54:00:00:00:01', 'n1', '', 'trouble=invalid@2');
$lab->spawn('n2', "$FindBin::Bin/node.pl", $lab->{url}, '52:54:00:00:00:02', 'n2', '00000000-1111-2222-3333-444444444444');
is(system("$Lab::assay run $lab->{dir}/plan.yaml --db $lab->{dir}/db >$lab->{dir}/run.log 2>&1") >> 8, 0, 'a run');
$lab->request('GET', '/boot.ipxe?mac=52:54:00:00:00:77&uuid=');
my $id = $lab->sql('SELECT run FROM runs');
open my $edit, '|-', 'sqlite3', "$lab->{dir}/db" or die;
print $edit ".timeout 5000\nUPDATE cells SET label = '$label' WHERE ordinal = 1;\n";
close $edit or die;

my $answer = $lab->request('GET', '/metrics');
is($answer->{status}, 200, 'metrics');
is($answer->{headers}{'content-type'}, 'application/openmetrics-text; version=1.0.0; charset=utf-8', 'their type');
Lab::write_file("$lab->{dir}/metrics", $answer->{content});
# NAME LABEL=VALUE… VALUE, a line a sample, by a reader that refuses what the standard does
Lab::write_file("$lab->{dir}/read.py", <<'P');
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(open(sys.argv[1]).read()):
    for s in family.samples:
        print(s.name, *(f"{k}={v}" for k, v in sorted(s.labels.items())), f"{s.value:g}", sep="|")
P
my $read = `/usr/bin/python3 $lab->{dir}/read.py $lab->{dir}/metrics 2>&1`;
is($?, 0, 'prometheus_client reads them') or diag $read;
my %value = map { /^(.*)\|(.*)$/ ? ($1 => $2) : () } split /\n/, $read;
my $of = "group=pair1|plan=plan|run=$id";
is($value{"assay_run_samples_wanted|$of"}, 12, 'samples wanted');
is($value{"assay_run_attempts_total|$of|state=$_"}, $lab->sql("SELECT count(*) FROM attempts WHERE state = '$_'"), "samples $_")
	for qw(valid invalid failed abandoned);
is($value{"assay_run_attempts_total|$of|state=invalid"}, 1, 'one was made invalid');
is($value{"assay_run_state|$of|state=done"}, 1, 'the run is done');
is($value{'assay_strangers'}, 1, 'a stranger');
is($value{'assay_refused_total'}, 0, 'nothing was refused');
cmp_ok($value{"assay_node_silence_seconds|group=pair1|node=$_"}, '<', 60, "$_ was heard of") for qw(n1 n2);
is((grep { /^assay_node_step\|group=pair1\|node=n1\|step=/ } keys %value), 1, 'a node is in one step');
is($value{"assay_cell_samples_valid|cell=1|group=pair1|label=$label|run=$id"}, 4, 'a cell with its label, unharmed');
my $rate = $lab->sql("SELECT printf('%g', 1e9 * measured_bytes / measured_ns) FROM results WHERE role = 'measure' AND verdict = 'valid' AND cell_id = (SELECT cell_id FROM cells WHERE ordinal = 1) ORDER BY committed_unix_ns DESC LIMIT 1");
is($value{"assay_cell_throughput_bytes_per_second|cell=1|group=pair1|label=$label|node=n1|run=$id"}, $rate, 'the last rate of a cell');
cmp_ok($value{'assay_database_bytes'}, '>', 10000, 'the size of the database');
unlike($answer->{content}, qr/$_/, 'no token is told') for split /\n/, $lab->sql('SELECT token FROM boots');
# a parser that takes anything proves nothing
Lab::write_file("$lab->{dir}/metrics.bad", $answer->{content} =~ s/_total//gr);
isnt(system("/usr/bin/python3 $lab->{dir}/read.py $lab->{dir}/metrics.bad >/dev/null 2>&1"), 0, 'the reader refuses what is none');

chomp(my $modules = `cd $Lab::root && image/npm.sh tests/export`);
is($?, 0, 'npm has the grammar of PromQL') or BAIL_OUT('npm could not install it');
is(system("$Lab::assay export grafana >$lab->{dir}/dashboard.json"), 0, 'the dashboard');
like(`node $Lab::root/tests/export/promql.mjs $modules $lab->{dir}/dashboard.json $lab->{dir}/metrics 2>&1`, qr/^\d+ expressions$/, 'asks in PromQL, for what there is');
done_testing;
