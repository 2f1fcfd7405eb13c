#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes md-1.0, md-1.1, md-1.2 and bitlocker here, by the layouts that are published:
struct mdp_superblock_1 of the kernel's uapi/linux/raid/md_p.h, with its checksum as the kernel's calc_sb_1_csum();
the volume header and the FVE metadata block header of libbde's "BitLocker Drive Encryption (BDE) format"."""
import struct


def md(name, disk_bytes, offset):
    role = struct.pack("<256H", *([0, 1] + [0xffff] * 254))
    fixed = (struct.pack("<4I16s32s", 0xa92b4efc, 1, 0, 0, bytes(range(16)), b"precious:0")
             + struct.pack("<QIIQ3I", 0x6500000000, 1, 0, disk_bytes // 512 - 64, 0, 2, 0)
             + struct.pack("<IQ3I4x", 0, 0, 0, 0, 0)
             + struct.pack("<4QII16sB7x", 0 if offset > 4096 else 2048, disk_bytes // 512 - 2048, offset // 512, 0, 0, 0,
                           bytes(range(16, 32)), 0))
    fixed = fixed.ljust(192, b"\0") + struct.pack("<3Q", 0x6500000001, 7, 0xffffffffffffffff)
    super_block = fixed + struct.pack("<II", 0, 256) + bytes(32) + role
    total = sum(struct.unpack("<%dI" % (len(super_block) // 4), super_block))
    checksum = (total & 0xffffffff) + (total >> 32)
    super_block = fixed + struct.pack("<II", checksum & 0xffffffff, 256) + bytes(32) + role
    disk = bytearray(disk_bytes)
    disk[offset:offset + len(super_block)] = super_block
    open(name, "wb").write(disk)


def bitlocker():
    disk = bytearray(1 << 20)
    disk[0:11] = b"\xeb\x58\x90-FVE-FS-"
    struct.pack_into("<HBH", disk, 11, 512, 8, 0)
    disk[160:176] = bytes.fromhex("3bd67749292e4ad88399f6a339e3d001")
    struct.pack_into("<3Q", disk, 176, 65536, 131072, 196608)
    disk[510:512] = b"\x55\xaa"
    for at in (65536, 131072, 196608):
        disk[at:at + 12] = b"-FVE-FS-" + struct.pack("<HH", 64, 2)
    open("bitlocker", "wb").write(disk)


md("md-1.0", 4 << 20, (4 << 20) - 8192)
md("md-1.1", 4 << 20, 0)
md("md-1.2", 4 << 20, 4096)
bitlocker()
