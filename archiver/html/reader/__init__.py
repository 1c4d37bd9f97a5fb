"""Reading the article of a page: what belongs to it is chosen, then what is beside it is cleared.

Everything works on one lxml tree that is changed in place, each step in time linear in its size.
``reader`` knows nothing of safety: what it gives is sanitised after.
"""
