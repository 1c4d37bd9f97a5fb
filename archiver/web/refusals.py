"""Answers that refuse, with a sentence that pages can word in their own language."""

from aiohttp import web

from archiver.model.message import Message


def refusing(answer: web.HTTPException, message: Message) -> web.HTTPException:
    """The same answer, saying that; programs read it in English."""
    answer.text = str(message)
    answer.__dict__["said"] = message
    return answer


def said_of(answer: web.HTTPException) -> Message:
    """What an answer says."""
    said = answer.__dict__.get("said")
    text = answer.text or ""
    return said if isinstance(said, Message) else Message(text)
