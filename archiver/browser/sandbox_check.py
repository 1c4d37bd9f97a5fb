"""Check whether the sandbox can be used.

Run in a separate process (``python -m archiver.browser.sandbox_check``), because a process cannot
leave the namespaces again.
"""

import ctypes
import sys

_CLONE_NEWUSER, _CLONE_NEWPID = 0x10000000, 0x20000000


def main() -> None:
    """Enter what Chromium's sandbox needs: a user namespace with capabilities in it."""
    libc = ctypes.CDLL(None)
    sys.exit(int(libc.unshare(_CLONE_NEWUSER) != 0 or libc.unshare(_CLONE_NEWPID) != 0))


if __name__ == "__main__":
    main()
