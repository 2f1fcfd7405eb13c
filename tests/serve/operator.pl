#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# Who may give orders to the server, and what becomes of orders that are wrong. As root, which becomes other users.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use File::Copy;
use IO::Socket::UNIX;
use Lab;
use Test::More;

my $lab = Lab->new;
my $socket = "$lab->{dir}/db.run/operator";
chmod 0755, $lab->{dir};
# Where every user can run it
copy($Lab::assay, "$lab->{dir}/assay") or die;
chmod 0755, "$lab->{dir}/assay";
my @nobody = qw(setpriv --reuid 65534 --regid 65534 --clear-groups --);
my @member = qw(setpriv --reuid 65533 --regid 65533 --groups 65534 --); # of the group nogroup

# Exit code and output of assay as another user
sub as {
	my ($user, @arguments) = @_;
	my $command = join ' ', @$user, "$lab->{dir}/assay", @arguments, '2>&1';
	my $out = `cd / && timeout 60 $command`;
	return ($? >> 8, $out);
}

sub mode { sprintf '%04o', (stat $_[0])[2] & 07777 }

# What the socket answers to the bytes of a request
sub raw {
	my ($request) = @_;
	my $s = IO::Socket::UNIX->new(Peer => $socket) or die "$socket: $!";
	print $s $request;
	local $/;
	return (<$s> // '') =~ m{^HTTP/1\.1 (\d+)} ? $1 : 0;
}

$lab->serve;
is(mode($socket), '0600', 'the socket is for the server\'s user');
is(mode($lab->{db}), '0600', 'as is the database, which has the tokens');
my ($code, $text) = as(\@nobody, 'status', '--db', $lab->{db});
is($code, 3, 'another user gets no status');
like($text, qr/does not take orders from you: .*--operators/, 'and is told why');
($code, $text) = as(\@nobody, 'run', "$lab->{dir}/plan.yaml", '--db', $lab->{db}, '--no-wait');
is($code, 3, 'nor a run');
($code, $text) = as(\@nobody, 'run', '--cancel', 'x-1234', '--db', $lab->{db});
is($code, 3, 'nor the end of one');
($code, $text) = as(\@nobody, 'report', '--db', $lab->{db});
is($code, 3, 'nor a report');
is($lab->sql('SELECT count(*) FROM runs'), 0, 'nothing was queued');
is($lab->request('GET', '/status')->{status}, 404, 'the nodes\' port knows nothing of it: status');
is($lab->request('POST', '/runs', body => {})->{status}, 404, 'or runs');
is($lab->end($lab->{server}), 0, 'the end');

# --- a group of operators ---
$lab->serve('--operators', 'nogroup');
is(mode($socket), '0660', 'with --operators the socket is for the group too');
is((stat $socket)[5], 65534, 'that group');
($code, $text) = as(\@member, 'status', '--db', $lab->{db});
is($code, 0, 'a member gets the status');
like($text, qr/^server: http/, 'from the server');
($code, $text) = as(\@member, 'run', "$lab->{dir}/plan.yaml", '--db', $lab->{db}, '--no-wait');
is($code, 0, 'a run');
chomp(my $run = $text);
is($lab->sql("SELECT plan_text FROM runs WHERE run = '$run'"), Lab::read_file("$lab->{dir}/plan.yaml"), "with the plan as it was written");
like(Lab::read_file("$lab->{dir}/serve.log"), qr{operator: user 65533 asks for /runs}, 'the log says who asked');
($code, $text) = as(\@member, 'report', '--db', $lab->{db});
like($text, qr/What is it\?/, 'a report');
($code, $text) = as(\@member, 'run', '--cancel', $run, '--db', $lab->{db});
is($code, 0, 'and its end');
($code, $text) = as(\@member, 'run', '--cancel', $run, '--db', $lab->{db});
is($code, 2, 'which it has once');
like($text, qr/no such run is queued or running/, 'and is told');
($code, $text) = as(\@member, 'run', '--cancel', "'x y/../..?'", '--db', $lab->{db});
is($code, 2, 'a name that is none');
($code, $text) = as([qw(setpriv --reuid 65533 --regid 65533 --clear-groups --)], 'status', '--db', $lab->{db});
is($code, 3, 'who is no member gets nothing');
my $out = `sqlite3 'file:$lab->{db}?mode=ro' 'SELECT count(*) FROM runs'`;
is($out, "1\n", 'the database has one run');
is(system(@member, 'sqlite3', $lab->{db}, "UPDATE runs SET state = 'done'") >> 8 != 0, 1, 'a member changes nothing in it past the server');

# --- orders that are wrong ---
Lab::write_file("$lab->{dir}/bad.yaml", "schema_version: 1\nquestion: q\nnodes: 2\nworkload: []\n");
($code, $text) = as(\@member, 'run', "$lab->{dir}/bad.yaml", '--db', $lab->{db});
is($code, 2, 'a plan that is wrong');
like($text, qr{^\Q$lab->{dir}\E/bad\.yaml:4:1: .*workloads}m, 'where it is');
Lab::write_file("$lab->{dir}/three.yaml", Lab::read_file("$lab->{dir}/plan.yaml") =~ s/nodes: 2/nodes: 3/r);
($code, $text) = as(\@member, 'run', "$lab->{dir}/three.yaml", '--db', $lab->{db});
is($code, 2, 'a plan that the lab cannot measure');
Lab::write_file("$lab->{dir}/zero.yaml", "question: a\0b\n");
($code, $text) = as(\@member, 'run', "$lab->{dir}/zero.yaml", '--db', $lab->{db});
is($code, 2, 'a zero byte in a plan');
Lab::write_file("$lab->{dir}/latin.yaml", "question: \xe4\n");
($code, $text) = as(\@member, 'run', "$lab->{dir}/latin.yaml", '--db', $lab->{db});
is($code, 2, 'a plan that is no UTF-8');
for my $case (['no JSON', '{'], ['a number', '7'], ['deep', '[' x 100_000], ['no plan', '{"path": 1, "text": {}}'],
	['no YAML', '{"path": "x", "text": "\u001b: ["}'], ['a huge plan', '{"path": "x", "text": "' . 'x' x (2 << 20) . '"}']) {
	my ($what, $body) = @$case;
	is(raw("POST /runs HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " . length($body) . "\r\n\r\n$body"), 422, "an order: $what");
}
is(raw("GET /runs/../../etc/passwd HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 404, 'an address that is none');
is(raw("GET /runs/x%27;DROP%20TABLE%20runs/report HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"), 404, 'SQL in an address');
is($lab->sql('SELECT count(*) FROM runs'), 1, 'no run came of it');
is($lab->end($lab->{server}), 0, 'the end');

# --- no server ---
($code, $text) = as(\@member, 'status', '--db', $lab->{db});
is($code, 0, 'without a server a member reads what the database has');
like($text, qr/^server: does not run.*run \Q$run\E on pair1: cancelled/s, 'and is told that none runs');
($code, $text) = as(\@member, 'run', '--cancel', $run, '--db', $lab->{db});
like($text, qr/no server works on .*: start assay serve/, 'orders need one');
my $serve = `$Lab::assay serve $lab->{dir}/lab.yaml --db $lab->{db} --image $lab->{dir}/image --operators no-such-group 2>&1`;
is($? >> 8, 2, 'a group that is not there: exit code 2');
like($serve, qr/no such group/, 'and it is named');
done_testing;
