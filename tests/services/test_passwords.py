from base64 import b64decode
from hashlib import scrypt

from archiver.services.access import hash_password, is_password


def test_only_a_salted_scrypt_hash_is_stored():
    one, other = hash_password("heron é"), hash_password("heron é")

    assert one != other
    name, salt, key = one.split("$")
    known = scrypt(
        "heron é".encode(), salt=b64decode(salt), n=32768, r=8, p=1, maxmem=1 << 26, dklen=32
    )
    assert (name, b64decode(key)) == ("scrypt", known)
    assert is_password("heron é", one)
    assert not is_password("heron e", one)


def test_an_unknown_hash_format_matches_no_password():
    assert not any(is_password("x", kept) for kept in ("", "x", "scrypt$", "scrypt$!$!", "md5$a$b"))
