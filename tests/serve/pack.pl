#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# assay pack and assay verify on a run over HTTP: whole, it is well; changed in any way, by anyone, it is not. Some of the
# tampering is signed anew with the operator's own key (by openssl, which also confirms ours): then the chain must tell.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Lab;
use Digest::SHA 'sha256_hex';
use Test::More;

my $lab = Lab->new;
my $dir = "$lab->{dir}";
my $json = JSON::PP->new->canonical->utf8;
sub assay { my @o = `cd $dir && $Lab::assay @_ 2>&1`; return ($? >> 8, join '', @o) }
$Lab::assay = "$ENV{PWD}/$Lab::assay" if $Lab::assay !~ m{^/};

$lab->serve;
$lab->spawn('n1', "$FindBin::Bin/node.pl", $lab->{url}, '52:54:00:00:00:01', 'n1', '', 'trouble=fail@1', 'trouble=invalid@7');
$lab->spawn('n2', "$FindBin::Bin/node.pl", $lab->{url}, '52:54:00:00:00:02', 'n2', '00000000-1111-2222-3333-444444444444', 'trouble=reboot@2');
Lab::wait_for(20, 'both nodes', sub { $lab->sql('SELECT count(*) FROM boots WHERE boot_id NOT NULL') == 2 });
my $wipe = $lab->wipe("$dir/plan.yaml");
my ($status, $out) = assay("run $dir/plan.yaml --db db $wipe");
is($status, 0, 'a run');
my $run = $lab->sql('SELECT run FROM runs');
# a second one, of which the pack of the first must tell nothing but hashes, though it lies in the same chain
($status, $out) = assay("run $dir/plan.yaml --db db $wipe --boots 1 --samples 1");
is($status, 0, 'another run');
my $other = $lab->sql("SELECT run FROM runs WHERE run != '$run'");

# The chain in the store.
is($lab->sql("SELECT group_concat(kind) FROM (SELECT DISTINCT kind FROM chain ORDER BY kind)"), 'close,end,hello,open,result,run', 'the chain has all kinds');
is($lab->sql("SELECT count(*) FROM chain WHERE kind = 'result'"), $lab->sql('SELECT count(*) FROM results'), 'a link a result');
is($lab->sql("SELECT count(*) FROM chain WHERE kind = 'hello'"), $lab->sql('SELECT count(*) FROM boots WHERE boot_id NOT NULL'), 'a link a hello');
is($lab->sql('SELECT max(n) - count(*) FROM chain'), 0, 'no gaps');

# Keys, and a pack.
($status, $out) = assay("pack $run --db db --image image");
is($status, 2, 'without a key: exit code');
like($out, qr/assay pack --new-key assay.key. makes one/, 'and what to do');
is((assay('pack --new-key assay.key'))[0], 0, 'a key');
is((stat "$dir/assay.key")[2] & 0777, 0600, 'for the operator alone');
is((assay('pack --new-key assay.key'))[0], 3, 'a key is never overwritten');
is((assay('pack --new-key stranger'))[0], 0, "a stranger's key");
($status, $out) = assay("pack $run --db db --image .");
is($status, 2, 'without the manifest of the image: exit code');
like($out, qr/image sim measured, and none of the image folders/, 'and which');
ok(!-e "$dir/$run.assay" && !-e "$dir/$run.assay.part", 'and there is no pack');
($status, $out) = assay("pack $run --db db --image image");
is($status, 0, 'a pack') or diag $out;
my $whole = Lab::read_file("$dir/$run.assay");
my @whole = split /^/, $whole;
($status, $out) = assay("verify $run.assay");
is($status, 0, 'it is what was signed') or diag $out;
like($out, qr/run $run: nothing was changed, left out or added/, 'and says so');
my @links = map { $json->decode($_) } grep { /"type":"link"/ } @whole;
is($links[0]{kind}, 'hello', 'from the first hello on');
is($links[-1]{kind}, 'end', 'to the end of the run');
is(scalar(grep { exists $_->{body} } @links), $lab->sql("SELECT count(*) FROM results WHERE run = '$run'"), 'every result, whole');
unlike($whole, qr/$_/, 'no token is in it') for split /\n/, $lab->sql('SELECT token FROM boots');
is((assay("verify $run.assay --includes $links[3]{sha256}"))[0], 0, 'a link that was written down is in it');
is((assay('verify ' . "$run.assay --includes " . '0' x 64))[0], 1, 'one that is not, is not');
is((assay("pack $other --db db --image image"))[0], 0, 'the other run has a pack too');

# Signed as OpenSSL signs.
my $signature = $json->decode($whole[-1]);
is($signature->{sha256}, sha256_hex(join '', @whole[0 .. $#whole - 1]), 'the hash of all above the signature');
Lab::write_file("$dir/text", "assay-pack 1 $signature->{sha256}");
Lab::write_file("$dir/signature", pack 'H*', $signature->{signature});
is(system("cd $dir && openssl pkeyutl -verify -rawin -pubin -inkey assay.key.pub -in text -sigfile signature >/dev/null"), 0, 'openssl agrees with the signature');

# LINES signed with KEY, by openssl.
sub sign {
	my ($key, @lines) = @_;
	my $sha = sha256_hex(join '', @lines);
	Lab::write_file("$dir/text", "assay-pack 1 $sha");
	system("cd $dir && openssl pkeyutl -sign -rawin -inkey $key -in text -out signature") == 0 or die;
	my $public = `cd $dir && openssl pkey -in $key -pubout -outform DER | tail -c 32`;
	return (@lines, $json->encode({%$signature, sha256 => $sha, signature => unpack('H*', Lab::read_file("$dir/signature")), key => sha256_hex($public)}) . "\n");
}
# WHAT is found in LINES, each PATTERN.
sub found {
	my ($what, $lines, @patterns) = @_;
	Lab::write_file("$dir/bad", join '', @$lines);
	my ($code, $text) = assay('verify bad');
	is($code, 1, "$what: exit code");
	like($text, $_, "$what: it is said") for @patterns, qr/^bad: NOT what was signed: \d+ finding/m;
}
my @body = @whole[0 .. $#whole - 1];
my ($result) = grep { $body[$_] =~ /"kind":"result"/ } 0 .. $#body;
my ($later) = grep { $body[$_] =~ /"kind":"close"/ && $_ > $result } 0 .. $#body;
sub edited { my ($at, $edit) = @_; my @l = @body; my $line = $json->decode($l[$at]); $edit->($line); $l[$at] = $json->encode($line) . "\n"; return @l }
is((assay('verify bad'))[0], 2, 'no file: exit code');
Lab::write_file("$dir/bad", join '', sign('assay.key', @body));
is((assay('verify bad'))[0], 0, 'signed anew, unchanged: it is well');

# Every byte counts.
my $step = int(length($whole) / 60) || 1;
my $missed = 0;
for (my $at = 0; $at < length $whole; $at += $step) {
	my $copy = $whole;
	substr($copy, $at, 1) = substr($copy, $at, 1) eq '0' ? '1' : '0';
	Lab::write_file("$dir/bad", $copy);
	my ($code) = assay('verify bad');
	$missed++ if $code != 1;
}
is($missed, 0, 'a byte changed, at 60 places: each is found');
for my $cut (1, 100, int(length($whole) / 2), length($whole) - 1) {
	found("truncated by $cut bytes", [substr $whole, 0, length($whole) - $cut], qr/cut off/);
}
found('truncated by the signature', \@body, qr/no signature at its end/);
found('nothing at all', [''], qr/no signature at its end/);
found('something added after the signature', [@whole, "{}\n"], qr/added after the signature/);
found('signed by a stranger', [sign('stranger', @body)], qr/was signed with the key [0-9a-f]{64}, not with/);
found('the signature of other lines', [edited($later, sub { $_[0]{at_unix_ns}++ }), $whole[-1]], qr/is not what was signed/, qr/link \d+ \(close\): it is not what was hashed/);
is((assay("verify $run.assay --key stranger.pub"))[0], 1, "the wrong key");
is((assay("verify $run.assay --key text"))[0], 2, 'no key');

# By one who has the operator's key.
found('a result changed', [sign('assay.key', edited($result, sub { $_[0]{body} =~ s/"node"/"nodf"/ }))], qr/line \d+: link \d+: its body was changed/);
found('what a link says changed', [sign('assay.key', edited($result, sub { $_[0]{content} =~ s/"verdict":"\w+"/"verdict":"valid"/; $_[0]{content} .= ' ' }))], qr/its content was changed/);
found('a result removed', [sign('assay.key', @body[0 .. $result - 1, $result + 1 .. $#body])], qr/1 between them were left out/);
found('a result told without its content', [sign('assay.key', edited($result, sub { delete $_[0]{content} }))], qr/its content was left out/);
found('a result told without its body', [sign('assay.key', edited($result, sub { delete $_[0]{body} }))], qr/its body was left out/);
found('a result added', [sign('assay.key', @body[0 .. $result, $result .. $#body])], qr/one was added, or the order was changed/);
found('the order swapped', [sign('assay.key', @body[0 .. $result - 1, $result + 1, $result, $result + 2 .. $#body])], qr/order was changed/);
found('the first link removed', [sign('assay.key', @body[0, 2 .. $#body])], qr/from a boot that never said hello/);
my ($end) = grep { $body[$_] =~ /"kind":"end"/ } 0 .. $#body;
found('the end removed', [sign('assay.key', @body[0 .. $end - 1, $end + 1 .. $#body])], qr/the end of the run is not there/);
my ($manifest) = grep { $body[$_] =~ /"name":"manifest-/ } 0 .. $#body;
found('the manifest removed', [sign('assay.key', @body[0 .. $manifest - 1, $manifest + 1 .. $#body])], qr/the manifest of image sim/);
my ($report) = grep { $body[$_] =~ /"name":"report.json"/ } 0 .. $#body;
found('the report changed', [sign('assay.key', edited($report, sub { $_[0]{text} =~ s/"bytes":4194304/"bytes":5194304/; $_[0]{sha256} = sha256_hex($_[0]{text}) }))],
	qr/the report has a sample .* that no result is of/, qr/the report lacks 1 of the samples that count/);
found('a file added', [sign('assay.key', @body, $json->encode({type => 'file', name => 'more', text => '', sha256 => sha256_hex('')}) . "\n")], qr/file more does not belong here/);
my @foreign = grep { /"kind":"result"/ } split /^/, Lab::read_file("$dir/$other.assay");
found("another run's result put in", [sign('assay.key', @body[0 .. $result - 1], $foreign[0], @body[$result + 1 .. $#body])], qr/link \d+ follows link \d+/);

# One who knows all of it, key and chain, can forge one thing: a whole other chain. What was written down of the first one tells.
my @forged = @body;
my $previous = $links[0]{previous};
for my $line (@forged) {
	my $l = $json->decode($line);
	next if $l->{type} ne 'link';
	$l->{at_unix_ns}++;
	$l->{previous} = $previous;
	$previous = $l->{sha256} = sha256_hex(join('', map { "$_\n" } $previous, $l->{n}, $l->{at_unix_ns}, $l->{kind}, $l->{run}, $l->{node}, $l->{content_sha256}));
	$line = $json->encode($l) . "\n";
}
Lab::write_file("$dir/bad", join '', sign('assay.key', @forged));
is((assay('verify bad'))[0], 0, 'a whole other chain, signed by the operator, is well in itself');
($status, $out) = assay("verify bad --includes $links[-1]{sha256}");
is($status, 1, 'but not with a hash that was written down');
like($out, qr/the link $links[-1]{sha256} is not in it/, 'and that is said');

# What was changed in the database is not signed.
sub unsigned {
	my ($what, $sql, $pattern) = @_;
	system('cp', "$dir/db", "$dir/db2");
	system('sqlite3', "$dir/db2", $sql) == 0 or die;
	my ($code, $text) = assay("pack $run --db db2 --image image --to no.assay");
	is($code, 1, "the database, $what: exit code");
	like($text, $pattern, "the database, $what: which");
	ok(!-e "$dir/no.assay" && !-e "$dir/no.assay.part", "the database, $what: no pack");
}
$lab->end($lab->{server});
$lab->sql('PRAGMA wal_checkpoint(TRUNCATE)');
my $one = "run = '$run' AND role = 'measure' AND verdict = 'valid' LIMIT 1)";
unsigned('a result changed', "UPDATE results SET body = CAST(replace(CAST(body AS TEXT), '4194304', '9194304') AS BLOB) WHERE rowid = (SELECT rowid FROM results WHERE $one", qr/its body was changed/);
unsigned('figures changed', "UPDATE results SET measured_ns = measured_ns / 2 WHERE rowid = (SELECT rowid FROM results WHERE $one", qr/the report has a sample/);
unsigned('a sample that did not count made valid', "DROP INDEX attempts_valid; UPDATE attempts SET state = 'abandoned' WHERE rowid = (SELECT min(rowid) FROM attempts WHERE run = '$run' AND state = 'valid')", qr/the report lacks 1/);
unsigned('a link gone', "DELETE FROM chain WHERE n = (SELECT min(n) + 5 FROM chain WHERE run = '$run')", qr/1 between them were left out/);
unsigned('the plan changed', "UPDATE runs SET plan_text = plan_text || '#' WHERE run = '$run'", qr/its plan was changed/);
unsigned('an inventory changed', "UPDATE boots SET inventory = replace(inventory, 'none', 'many') WHERE run = '$run'", qr/its inventory was changed/);
system('cp', "$dir/db", "$dir/db2");
system('sqlite3', "$dir/db2", "PRAGMA foreign_keys = OFF; DELETE FROM results WHERE rowid = (SELECT rowid FROM results WHERE $one");
($status, $out) = assay("pack $run --db db2 --image image --to no.assay");
is($status, 2, 'the database, a result gone: exit code');
like($out, qr/link \d+ \(result of n1\): its body is no more in the database/, 'the database, a result gone: which');
($status, $out) = assay('pack no-such-1 --db db');
is($status, 2, 'no such run: exit code');
done_testing;
