#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# A node that hangs in mid-sample, and the operator's own command that switches it: what the server makes of it.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Lab;
use Test::More;
use Time::HiRes qw(sleep time);

my $uuid2 = '00000000-1111-2222-3333-444444444444';

# A lab whose node n2 is switched by a command; SCRIPT is what it does.
sub lab {
	my ($script) = @_;
	my $lab = Lab->new;
	my $dir = $lab->{dir};
	Lab::write_file("$dir/switch", "#!/bin/bash\ncd '$dir'\necho \"\$*\" >>switched\n$script\n");
	chmod 0755, "$dir/switch";
	my $text = Lab::read_file("$dir/lab.yaml");
	$text =~ s/(serial: A2.*\n)/$1    power: {driver: command, command: [.\/switch, outlet2]}\n/ or die;
	Lab::write_file("$dir/lab.yaml", $text);
	$text = Lab::read_file("$dir/plan.yaml");
	$text =~ s/deadlines: .*/deadlines: {peer: 3s, apply: 2s, measure: 2s}/ or die;
	Lab::write_file("$dir/plan.yaml", $text);
	$lab->serve;
	return $lab;
}

sub node { my ($lab, $n, @trouble) = @_; $lab->spawn("n$n", "$FindBin::Bin/node.pl", $lab->{url}, "52:54:00:00:00:0$n", "n$n", $n == 2 ? $uuid2 : '', @trouble) }

# Ends by itself; gives its exit code.
sub run {
	my ($lab) = @_;
	my ($pid, $status) = ($lab->spawn('run', $Lab::assay, 'run', "$lab->{dir}/plan.yaml", '--db', "$lab->{dir}/db",
		split(/ /, $lab->wipe("$lab->{dir}/plan.yaml"))));
	Lab::wait_for(120, 'the end of the run', sub { waitpid($pid, 1) == $pid ? (($status = $?), 1)[1] : 0 });
	delete $lab->{children}{$pid};
	return $status >> 8;
}

# It is switched, and comes back as another process.
{
	my $lab = lab('kill "$(cat n2.pid)"; setsid ./n2 >>n2.log 2>&1 & echo $! >n2.pid');
	my $dir = $lab->{dir};
	Lab::write_file("$dir/n2", "#!/bin/bash\nexec $FindBin::Bin/node.pl $lab->{url} 52:54:00:00:00:02 n2 $uuid2\n");
	chmod 0755, "$dir/n2";
	my @nodes = (node($lab, 1), node($lab, 2, 'trouble=hang@2'));
	Lab::write_file("$dir/n2.pid", $nodes[1]);
	is(run($lab), 0, 'a node that hangs: the run ends with every sample');
	is($lab->sql("SELECT count(*), count(DISTINCT run || cell_id || boot || '/' || sample) FROM attempts WHERE state = 'valid'"), '12|12',
		'each once');
	is(Lab::read_file("$dir/switched"), "outlet2 cycle n2\n", 'it was switched once, and nothing else was');
	is($lab->sql("SELECT node, done, text, cell_id NOT NULL FROM power"), 'n2|1|n2: ./switch cycle n2: done|1', 'and the store says so');
	like(Lab::read_file("$dir/run.log"), qr/error: node n2, step hung, .*: hung in cell .* is power-cycled$/m, 'and so does assay run');
	like(Lab::read_file("$dir/serve.log"), qr/ n2 power: n2: \.\/switch cycle n2: done$/m, 'and the log');
	$lab->end($lab->{server});
	my $pid = Lab::read_file("$dir/n2.pid");
	kill 'KILL', $pid + 0;
}

# Whatever is switched, nothing comes back.
{
	my $lab = lab('echo "outlet 2 is on fire"; exit 1');
	my @nodes = (node($lab, 1), node($lab, 2, 'trouble=die@2'));
	is(run($lab), 1, 'a node that stays away: exit code 1');
	is(Lab::read_file("$lab->{dir}/switched"), "outlet2 cycle n2\n" x 3, 'three tries');
	my $log = Lab::read_file("$lab->{dir}/run.log");
	like($log, qr/cannot be power-cycled: assay power: node n2: \.\/switch cycle n2 ended with status 1: outlet 2 is on fire$/m, 'the reason is said');
	like($log, qr/what to do: Try `assay power LAB NODE status`/, 'and what to do');
	like($log, qr/was power-cycled 3 times in a row without a valid result in between: not again in this run/, 'and when it is enough');
	like(`$Lab::assay status --db $lab->{dir}/db`, qr/power-cycled 3 times in a row/, 'status has it too');
	is($lab->sql("SELECT count(*) FROM attempts a JOIN cells c USING (run, cell_id) WHERE state = 'valid' AND c.nodes = 1"), 4,
		'what needs one node was measured');
}
done_testing;
