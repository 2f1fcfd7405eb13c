#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Sends a frame into one tap and waits for it at another, as two nodes' cards would.

usage: wire.py FROM TO BYTES [DESTINATION]     exit 0: it came, unchanged; 1: it did not within a second
"""
import fcntl
import os
import select
import struct
import sys
import time

TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000


def attach(name):
    fd = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(fd, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TAP | IFF_NO_PI))
    return fd


def main():
    source, sink, size = attach(sys.argv[1]), attach(sys.argv[2]), int(sys.argv[3])
    destination = bytes.fromhex((sys.argv[4] if len(sys.argv) > 4 else "00:1b:21:77:02:01").replace(":", ""))
    frame = destination + bytes.fromhex("001b21770101" "88b5")
    frame += bytes(i * 7 & 255 for i in range(size - len(frame)))
    end = time.monotonic() + 1
    sent = 0
    while time.monotonic() < end:
        if time.monotonic() >= sent + 0.1:  # a port that has just got its carrier may lose the first
            os.write(source, frame)
            sent = time.monotonic()
        if select.select([sink], [], [], 0.05)[0] and os.read(sink, 65536) == frame:
            return 0
    return 1


sys.exit(main())
