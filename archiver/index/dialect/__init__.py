"""What differs between the engines that an index may lie in; all other statements are shared.

``port`` says what an engine must be able to do, ``sqlite`` does it. Nothing outside of this room
asks which engine it has.
"""
