"""Stands for a process that is a copy of one (``begun``): ``launcher.py SOCKET MODULE ARGUMENT…``.

It gives the copy its streams and variables, and ends as it ends; once this is killed, so is that.
It imports next to nothing: it is started in place of what takes long to load.
"""

import _socket
import os
import sys

STREAMS = b"".join(each.to_bytes(4, sys.byteorder) for each in range(3))


def main() -> int:
    """Call, and wait for the end of the copy."""
    path, module, *arguments = sys.argv[1:]
    told = [module, os.getcwd(), str(len(arguments)), *arguments]  # noqa: PTH109 - pathlib takes long to load
    variables = [b"=".join(each) for each in os.environb.items()]
    asked = b"\0".join([*map(os.fsencode, told), *variables])
    for each in range(3):
        try:
            os.fstat(each)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # in the place of one that is closed
    call = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    call.connect(path)
    rights = [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, STREAMS)]
    call.sendmsg([len(asked).to_bytes(8, sys.byteorder)], rights)
    call.sendall(asked)
    for each in range(3):
        os.close(each)
    status = int(call.recv(100) or b"1")
    if status < 0:
        os.kill(os.getpid(), -status)
    return status


os._exit(main())
