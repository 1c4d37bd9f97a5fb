"""Settings page."""

from aiohttp import web

from archiver.web.origin import public_origin
from archiver.web.rendering import render_beside
from archiver.web.views import SettingsView


async def settings(request: web.Request) -> web.StreamResponse:
    """Show the settings that can be changed."""
    return await render_beside(request, "pages/settings.html", SettingsView(public_origin(request)))
