"""The hosts of entries as OPML 2.0 (http://opml.org/spec2.opml), for what follows sites."""

from email.utils import format_datetime
from xml.sax.saxutils import escape, quoteattr

from archiver.formats.list_writer import Heading, ListForm, Order
from archiver.model.exported import Exported
from archiver.wire.text import for_xml


class _Hosts:
    def __init__(self, heading: Heading) -> None:
        self._heading = heading

    def opening(self) -> str:
        title = escape(for_xml(self._heading.title))
        created = format_datetime(self._heading.begun_at, usegmt=True)
        return (
            '<?xml version="1.0" encoding="utf-8"?>\n<opml version="2.0">\n'
            f"<head><title>{title}</title><dateCreated>{created}</dateCreated></head>\n"
            "<body>\n"
        )

    def item(self, exported: Exported, place: str) -> str:
        name = quoteattr(place)
        scheme = exported.entry.url.partition(":")[0]
        url = quoteattr(f"{scheme}://{place}/")
        return f'<outline type="link" text={name} url={url} htmlUrl={url}/>\n'

    def closing(self) -> str:
        return "</body>\n</opml>\n"


OPML_HOSTS = ListForm(_Hosts, Order.HOSTS)
