# SPDX-License-Identifier: GPL-2.0-or-later
# A lab on loopback for tests of `assay serve`: server, made-up nodes, temporary folder. Everything started is ended.
package Lab;
use strict;
use warnings;
use File::Temp;
use HTTP::Tiny;
use IO::Socket::INET;
use JSON::PP;
use Time::HiRes qw(sleep time);

our $root = $0 =~ m{^(.*)/tests/serve/} ? $1 : '.';
our $assay = "$root/out/assay";
our $json = JSON::PP->new->canonical->utf8;

sub new {
	my ($class) = @_;
	my $self = bless {dir => File::Temp->newdir(), children => {}, url => ''}, $class;
	my $dir = $self->{dir};
	$self->{db} = "$dir/db";
	mkdir "$dir/image" or die;
	mkdir "$dir/image/ipxe" or die;
	write_file("$dir/image/vmlinuz", 'K' x 100_000);
	write_file("$dir/image/initramfs.cpio.zst", 'I' x 50_000);
	write_file("$dir/image/manifest.json", '{"image_id": "sim"}');
	write_file("$dir/image/secret", 'not to be served');
	write_file("$dir/image/ipxe/undionly.kpxe", 'P');
	write_file("$dir/lab.yaml", <<"X");
schema_version: 1
server: {interface: lo, address: 127.0.0.1/8, dhcp: none}
groups:
  pair1: {nodes: [n1, n2], storage_network: 10.99.0.0/24}
nodes:
  n1:
    mac: "52:54:00:00:00:01"
    storage_nics: ["52:54:00:00:01:01", "52:54:00:00:01:02"]
    kernel_arguments: [mitigations=off]
    disk: {serial: A1, consent: wipe, min_bytes: 100000000, max_bytes: 1000000000}
  n2:
    uuid: "00000000-1111-2222-3333-444444444444"
    console: [ttyS1]
    storage_nics: ["52:54:00:00:02:01", "52:54:00:00:02:02"]
    disk: {serial: A2, consent: wipe, min_bytes: 100000000, max_bytes: 1000000000}
X
	write_file("$dir/plan.yaml", <<'X');
schema_version: 1
question: What is it?
nodes: 2
zip:
  - {stack: raw}
  - {stack: drbd}
  - {stack: drbd, bond.mode: active-backup, boot: fresh}
workloads:
  - copy: {bs: 1MiB, size: 4MiB}
repeat: {boots: 2, samples: 2}
deadlines: {peer: 20s, apply: 20s, measure: 20s}
retries: 1
X
	return $self;
}

sub write_file {
	my ($path, $text) = @_;
	open my $out, '>', $path or die "$path: $!";
	print $out $text;
	close $out or die "$path: $!";
}

sub read_file {
	my ($path) = @_;
	local $/;
	open my $in, '<', $path or return '';
	return scalar <$in>;
}

# Starts a process with its output in a file; gives its id.
sub spawn {
	my ($self, $name, @command) = @_;
	my $pid = fork // die "fork: $!";
	if (!$pid) {
		open STDOUT, '>>', "$self->{dir}/$name.log" or die;
		open STDERR, '>&', \*STDOUT or die;
		exec @command or die "$command[0]: $!";
	}
	$self->{children}{$pid} = $name;
	return $pid;
}

sub end {
	my ($self, $pid, $signal) = @_;
	kill $signal // 'TERM', $pid;
	waitpid $pid, 0;
	delete $self->{children}{$pid};
	return $?;
}

sub wait_for {
	my ($seconds, $what, $check) = @_;
	my $until = time + $seconds;
	until ($check->()) {
		die "$what: not within $seconds s\n" if time > $until;
		sleep 0.02;
	}
}

# Starts the server, with options; on the port that it had, once it had one.
sub serve {
	my ($self, @more) = @_;
	my $log = "$self->{dir}/serve.log";
	my $from = -s $log // 0;
	my $port = $self->{url} =~ /:(\d+)$/ ? $1 : 0;
	$self->{server} = $self->spawn('serve', $assay, 'serve', "$self->{dir}/lab.yaml", '--db', $self->{db}, '--image',
		"$self->{dir}/image", '--port', $port, @more);
	wait_for(20, 'the server listens', sub {
		my $text = substr read_file($log), $from;
		die "the server ended: $text" if waitpid($self->{server}, 1) == $self->{server};
		return 0 unless $text =~ m{listening on (http://[0-9.:]+)};
		$self->{url} = $1;
	});
}

sub request {
	my ($self, $method, $path, %o) = @_;
	my %headers = %{ $o{headers} // {} };
	$headers{Authorization} = "Bearer $o{token}" if defined $o{token};
	my $body = ref $o{body} && ref $o{body} ne 'CODE' ? $json->encode($o{body}) : $o{body};
	return HTTP::Tiny->new(timeout => $o{timeout} // 30)->request($method, "$self->{url}$path",
		{headers => \%headers, defined $body ? (content => $body) : ()});
}

# As request(), in one write: HTTP::Tiny's two wait 40 ms for each other (Nagle's algorithm).
sub quick {
	my ($self, $method, $path, $token, $body, $from) = @_;
	my $text = defined $body ? $json->encode($body) : '';
	my $s = IO::Socket::INET->new(PeerAddr => $self->{url} =~ m{//(.*)}, Proto => 'tcp', $from ? (LocalAddr => $from) : ())
		or die "connect: $!";
	print $s "$method $path HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer $token\r\nContent-Length: ",
		length $text, "\r\n\r\n$text";
	local $/;
	my ($status, $content) = (<$s> // '') =~ m{^HTTP/1.1 (\d+).*?\r\n\r\n(.*)}s;
	return {status => $status // 599, content => $content // ''};
}

# The token of a script
sub token {
	my ($self, $query) = @_;
	my $script = $self->request('GET', "/boot.ipxe?$query")->{content};
	return $script =~ /assay\.token=([0-9a-f]{32}) / ? $1 : '';
}

# Bodies that the server takes: the hello of a node, and a valid result of WORK (what `next` gave) from the boot BOOT_ID
sub hello {
	my ($mac, $boot_id, %more) = @_;
	return {
		schema_version => 1, mac => $mac, boot_id => $boot_id, image_id => 'sim', uptime_ns => 1,
		inventory => {schema_version => 1, dmi => {}, cpus => {model => 'x', online => 1}, memory_bytes => 1, kernel_release => 'x',
			command_line => '', pci => [], nics => [], disks => []}, %more};
}

sub result {
	my ($work, $boot_id, %more) = @_;
	my $size = $work->{cell}{workload}{size_bytes};
	return {
		schema_version => 1, (map { $_ => $work->{$_} } qw(run cell_id boot sample attempt role cell)), node => $work->{self}{name},
		verdict => 'valid', started_unix_ns => 1,
		evidence => {boot_id => $boot_id, kernel_release => 'x', image_id => 'sim', command_line => '', states_built_before => 0,
			in_force => $work->{cell}{state}, differences => [], nics => [], paths => [], before => {}, after => {}},
		measurement => {bytes => $size, ns => 1000, mb_per_s => $size, mib_per_s => 1, records_full => 1, records_partial => 0,
			second_bytes => [], equivalent => 'dd'}, %more};
}

sub sql {
	my ($self, $sql) = @_;
	my $out = `sqlite3 -cmd '.timeout 5000' "$self->{db}" "$sql"`;
	chomp $out;
	return $out;
}

sub DESTROY {
	my ($self) = @_;
	local $?;
	for my $pid (keys %{ $self->{children} }) {
		kill 'KILL', $pid;
		waitpid $pid, 0;
	}
}

1;
