"""The numbers of the NBD protocol, for both sides of a connection.

Source: NetworkBlockDevice/nbd doc/proto.md@174ad551.
"""

import struct

READ, WRITE, DISCONNECT, FLUSH, TRIM, ZERO = 0, 1, 2, 3, 4, 6

HANDSHAKE_FLAGS = 1 | 2  # fixed newstyle, no zeroes
GREETING = struct.pack(">8s8sH", b"NBDMAGIC", b"IHAVEOPT", HANDSHAKE_FLAGS)
OPTION = struct.Struct(">QII")
OPTION_MAGIC = 0x49484156454F5054
OPTION_REPLY = struct.Struct(">QIII")
OPTION_REPLY_MAGIC = 0x3E889045565A9
EXPORT_NAME, ABORT, LIST, NBD_INFO, GO = 1, 2, 3, 6, 7
ACK, SERVER, INFORMATION = 1, 2, 3
UNSUPPORTED, INVALID, UNKNOWN = 2**31 + 1, 2**31 + 3, 2**31 + 6
OF_EXPORT, OF_NAME, OF_BLOCK_SIZE = 0, 1, 3

# Transmission flags: has flags, flush, FUA, trim, write zeroes, several connections see the same.
FLAGS = 1 | 1 << 2 | 1 << 3 | 1 << 5 | 1 << 6 | 1 << 8
REQUEST = struct.Struct(">IHHQQI")
REQUEST_MAGIC = 0x25609513
REPLY = struct.Struct(">IIQ")
REPLY_MAGIC = 0x67446698
FUA, NO_HOLE = 1, 2
EIO, EINVAL, ENOSPC = 5, 22, 28
