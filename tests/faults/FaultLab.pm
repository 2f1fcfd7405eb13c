# SPDX-License-Identifier: GPL-2.0-or-later
# A lab with made-up nodes (tests/serve/node.pl), in a network namespace and on a file system of its own, so that its cables
# can be cut and its disk filled. To be run in a network and a mount namespace that nobody else uses, as root.
package FaultLab;
use strict;
use warnings;
use FindBin;
use lib "$FindBin::Bin/../serve";
use Lab;
use Time::HiRes qw(sleep time);

our @ISA = ('Lab');
my $disk_bytes = 128 << 20; # the server begins nothing with less than 48 MiB
my %uuid = (n1 => '', n2 => '00000000-1111-2222-3333-444444444444');

sub must { system(@_) == 0 or die "@_: failed\n" }

sub new {
	my ($class) = @_;
	my $self = Lab->new;
	my $dir = $self->{dir};
	bless $self, $class;
	must(qw(ip link set lo up));
	must(qw(ip link add br-m type bridge forward_delay 0));
	must(qw(ip addr add 10.77.0.1/24 dev br-m));
	must(qw(ip link set br-m up));
	mkdir "$dir/disk" or die;
	must('mount', '-t', 'tmpfs', '-o', "size=$disk_bytes", 'tmpfs', "$dir/disk");
	my $text = Lab::read_file("$dir/lab.yaml");
	$text =~ s/^server: .*$/server: {interface: br-m, address: 10.77.0.1\/24, dhcp: own, dhcp_range: [10.77.0.20, 10.77.0.40]}/m or die;
	$text =~ s/uuid: "$uuid{n2}"/mac: "52:54:00:00:00:02"/ or die;
	Lab::write_file("$dir/lab.yaml", $text);
	for my $n (1, 2) {
		# A namespace lives as long as a process in it.
		$self->{space}{"n$n"} = $self->spawn("space$n", 'unshare', '--net', 'sleep', 'infinity');
		Lab::wait_for(10, 'a namespace', sub {
			(readlink("/proc/$self->{space}{\"n$n\"}/ns/net") // '') ne readlink('/proc/self/ns/net')
				&& Lab::read_file("/proc/$self->{space}{\"n$n\"}/comm") eq "sleep\n" });
		must('ip', 'link', 'add', "n$n-m", 'type', 'veth', 'peer', 'name', 'eth0', 'netns', $self->{space}{"n$n"});
		must('ip', 'link', 'set', "n$n-m", 'master', 'br-m', 'up');
		$self->in("n$n", qw(ip link set lo up));
		$self->in("n$n", 'ip', 'link', 'set', 'eth0', 'address', "52:54:00:00:00:0$n", 'up');
		$self->in("n$n", 'ip', 'addr', 'add', '10.77.0.1' . $n . '/24', 'dev', 'eth0');
	}
	return $self;
}

sub in { my ($self, $node, @command) = @_; must('nsenter', '--net=/proc/' . $self->{space}{$node} . '/ns/net', @command) }

sub database { "$_[0]{dir}/disk/db" }

sub sql {
	my ($self, $sql) = @_;
	my $out = `sqlite3 -cmd '.timeout 20000' "$self->{dir}/disk/db" "$sql"`;
	chomp $out;
	return $out;
}

sub serve {
	my ($self) = @_;
	my $log = "$self->{dir}/serve.log";
	my $from = -s $log // 0;
	$self->{url} = 'http://10.77.0.1:8080';
	# It may be too much to ask right after a fault: then again, as an init system would.
	for my $try (1 .. 60) {
		my $pid = $self->spawn('serve', $Lab::assay, 'serve', "$self->{dir}/lab.yaml", '--db', $self->database, '--image', "$self->{dir}/image");
		my $ended = 0;
		Lab::wait_for(30, 'the server listens', sub {
			$ended = waitpid($pid, 1) == $pid;
			return $ended || substr(Lab::read_file($log), $from) =~ /listening on/;
		});
		return $self->{server} = $pid if !$ended;
		delete $self->{children}{$pid};
		$from = -s $log;
		sleep 0.5;
	}
	die "the server does not start: " . substr Lab::read_file($log), -500;
}

# Power on.
sub node {
	my ($self, $node) = @_;
	my $mac = "52:54:00:00:00:0" . substr $node, 1;
	my $from = -s "$self->{dir}/$node.log" // 0;
	$self->{node}{$node} = $self->spawn($node, 'nsenter', "--net=/proc/$self->{space}{$node}/ns/net", $^X, "$FindBin::Bin/../serve/node.pl",
		$self->{url}, $mac, $node, '', 'measure-ms=60', 'patience=2000', "boots-by=$^X $FindBin::Bin/discover.pl eth0 $mac");
	Lab::wait_for(60, "$node to be on", sub { substr(Lab::read_file("$self->{dir}/$node.log"), $from) =~ /^$node is on$/m });
}

sub link_state { my ($self, $node, $state) = @_; must('ip', 'link', 'set', "$node-m", $state) }

# Whether the port forwards anything: its carrier stays. A port whose link has just come up can be set a moment later only.
sub mute {
	my ($self, $node, $mute) = @_;
	my ($state, $shown) = $mute ? (0, 'disabled') : (3, 'forwarding');
	Lab::wait_for(10, "$node-m to be $shown", sub {
		system("bridge link set dev $node-m state $state 2>/dev/null");
		return `bridge link show dev $node-m` =~ / state $shown /;
	});
}

sub power_cut {
	my ($self, $node) = @_;
	$self->link_state($node, 'down'); # so that nothing of its end is heard
	$self->end($self->{node}{$node}, 'KILL');
}

sub DESTROY {
	my ($self) = @_;
	local $?;
	kill 'KILL', $self->{server} if $self->{server};
	my $dnsmasq = Lab::read_file($self->database . '.run/dnsmasq.pid');
	kill 'KILL', $dnsmasq + 0 if $dnsmasq =~ /^\d+/;
	$self->SUPER::DESTROY;
	system('umount', '-l', "$self->{dir}/disk");
}

1;
