"""The web face: reads typed input, calls one service, renders. No logic lives here.

``app`` builds the application, ``routes`` has every route on one page, ``keys`` names what an
application and a request carry, ``middleware`` stands around every handler.
"""
