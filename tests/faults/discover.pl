#!/usr/bin/perl
# SPDX-License-Identifier: GPL-2.0-or-later
# usage: discover.pl INTERFACE MAC
# A DHCPDISCOVER as a PXE ROM sends it; succeeds once an offer comes within a second.
use strict;
use warnings;
use Socket;

my ($interface, $mac) = @ARGV;
socket(my $s, PF_INET, SOCK_DGRAM, getprotobyname('udp')) or die $!;
setsockopt($s, SOL_SOCKET, SO_REUSEADDR, 1);
setsockopt($s, SOL_SOCKET, SO_BROADCAST, 1);
setsockopt($s, SOL_SOCKET, 25, "$interface\0") or die "SO_BINDTODEVICE: $!";
bind($s, pack_sockaddr_in(68, INADDR_ANY)) or die "bind: $!";
my $xid = int rand 2**32;
my $packet = pack('CCCCNnna4a4a4a4a16x64x128N', 1, 1, 6, 0, $xid, 0, 0x8000, ("\0" x 4) x 4, pack('H12', $mac =~ s/://gr) . "\0" x 10,
	0x63825363) . pack('CCC', 53, 1, 1) . pack('CC/a', 60, 'PXEClient:Arch:00000:UNDI:002001') . pack('CCn', 93, 2, 0) .
	pack('CCCCC', 55, 3, 1, 66, 67) . "\xff";
send($s, $packet, 0, pack_sockaddr_in(67, INADDR_BROADCAST)) or exit 1; # the link may be down
my $ready = '';
vec($ready, fileno $s, 1) = 1;
exit 1 unless select $ready, undef, undef, 1;
recv($s, my $answer, 1500, 0);
exit(unpack('x4N', $answer) == $xid ? 0 : 1);
