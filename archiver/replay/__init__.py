"""What is sent for a capture that was asked for: decided here, once, by pure functions.

``presentation`` decides; ``protection`` says what holds a stranger's content off, ``charset`` in
which encoding it goes out, ``content`` makes its bytes, ``conditions`` which of them are sent.
Heads, first bytes and iterators come in; values and iterators go out.
"""
