"""Answers that refuse, with a sentence that pages can word in their own language."""

from aiohttp import web

from archiver.model.message import Message


def refusing(answer: web.HTTPException, message: Message) -> web.HTTPException:
    """The same answer, saying that; programs read it in English."""
    answer.text = str(message)
    answer.__dict__["message"] = message
    return answer


def message_of(answer: web.HTTPException) -> Message:
    """What an answer says."""
    message = answer.__dict__.get("message")
    text = answer.text or ""
    return message if isinstance(message, Message) else Message(text)
