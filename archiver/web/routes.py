"""Every route, on one page. What is not here is not served.

Names are what the middleware goes by, and what metrics are counted under.
"""

import re

from aiohttp import web

from archiver.services.export_kinds import BY_SUFFIX
from archiver.web import app_manifest, cdx, events, files, health, language, memento, replay
from archiver.web.api import captures as api_captures
from archiver.web.api import entries as api_entries
from archiver.web.api import feeds as api_feeds
from archiver.web.api import highlights as api_highlights
from archiver.web.api import imports as api_imports
from archiver.web.api import jobs as api_jobs
from archiver.web.api import lists as api_lists
from archiver.web.api import openapi
from archiver.web.api import rescue as api_rescue
from archiver.web.emblems import EMBLEM_PATH
from archiver.web.pages import (
    access,
    crawl,
    editing,
    entry,
    exports,
    highlights,
    home,
    import_look,
    imports,
    likeness,
    lists,
    login,
    rescue,
    save,
    snapshot,
    snapshots,
    tags,
)
from archiver.web.pages import feeds as feed_page
from archiver.web.uploads import expect_file

_HASH = "{hash_url:[0-9a-f]{32}}"
_HIGHLIGHT = f"/api/v1/entries/{_HASH}/highlights/{{id:[0-9a-f]{{16}}}}"
_TIMESTAMP = "{timestamp:[0-9]{14}}"
_ANY_TIMESTAMP = "{timestamp:[0-9]{4,14}}"
_FORM = f"{{form:{'|'.join(map(re.escape, BY_SUFFIX))}}}"
_ID = "{id:[0-9]{1,18}}"
_URL = "{url:(?s:.*)}"
"""An archived URL with whatever is escaped in it, line ends too."""

ROUTES: tuple[web.RouteDef, ...] = (
    # Pages
    web.get("/", home.home, name="home"),
    web.post("/add", home.add, name="add"),
    web.get("/save", save.offer, name="save"),
    web.get("/snapshots", snapshots.listing, name="snapshots"),
    web.get("/search/help", snapshots.explain, name="search_help"),
    web.get(f"/{_HASH}/", entry.entry, name="entry"),
    web.get(f"/{_HASH}", entry.as_directory, name="entry_unslashed"),
    web.post(f"/{_HASH}/edit", entry.edit, name="edit_entry"),
    web.post(f"/{_HASH}/rescue", rescue.rescue, name="rescue"),
    web.get(f"/{_HASH}/compare", snapshot.compare, name="compare"),
    web.post(f"/{_HASH}/highlights", highlights.mark, name="mark"),
    web.get("/highlights", highlights.listing, name="highlights"),
    web.get("/highlights.{form:md|json}", highlights.export, name="export_highlights"),
    web.post(f"/{_HASH}/read-again", entry.read_again, name="read_again"),
    web.get(f"/{_HASH}/index.md", entry.entry_markdown, name="entry_markdown"),
    web.get(f"/{_HASH}/{_TIMESTAMP}/", snapshot.snapshot, name="snapshot"),
    web.get(f"/{_HASH}/{_TIMESTAMP}", entry.as_directory, name="snapshot_unslashed"),
    web.get("/shown/{banner:[0-9a-f]{16}}", snapshot.shown, name="shown"),
    web.get(
        f"/{_HASH}/{_TIMESTAMP}/{{kind:picture|thumbnail|print}}",
        likeness.likeness,
        name="likeness",
    ),
    web.get(f"{EMBLEM_PATH}{{digest:[0-9a-f]{{32}}}}", likeness.emblem, name="emblem"),
    web.get(f"/export/{_HASH}.{_FORM}", exports.download, name="export_entry"),
    web.get("/export", exports.page, name="export_page"),
    web.post("/export", exports.prepare, name="keep_export"),
    web.get("/export/kept/{name:[a-z0-9.-]+}", exports.prepared, name="kept_export"),
    web.post("/export/kept/{name:[a-z0-9.-]+}", exports.delete, name="delete_export"),
    web.get("/export/schema.json", exports.schema, name="export_schema"),
    web.get(f"/export/archive.{_FORM}", exports.download, name="export"),
    web.post("/edit", editing.edit_selected, name="edit_selected"),
    web.post("/rescue", rescue.rescue_selected, name="rescue_selected"),
    web.post("/undo", editing.undo, name="undo"),
    web.get(f"/{_HASH}/delete", editing.ask, name="ask_delete"),
    web.post("/delete", editing.delete, name="delete"),
    web.post("/restore", editing.restore, name="restore"),
    web.get("/tags", tags.tags, name="tags"),
    web.post("/tags", tags.change, name="change_tag"),
    web.get("/lists", lists.lists, name="lists"),
    web.post("/lists", lists.change, name="change_list"),
    web.post("/lists/order", lists.order, name="order_list"),
    web.get("/feed.{form:atom|json}", snapshots.feed, name="feed"),
    web.get("/feeds", feed_page.feeds, name="feeds"),
    web.post("/feeds", feed_page.change, name="change_feeds"),
    web.get("/feeds.opml", feed_page.outline, name="feeds_outline"),
    web.get("/crawl", crawl.work, name="crawl"),
    web.post("/crawl", crawl.change, name="change_crawl"),
    web.get("/import", imports.form, name="import_form"),
    web.post("/import", imports.upload, name="upload", expect_handler=expect_file),
    web.post("/import/page", imports.hand_in, name="hand_in", expect_handler=expect_file),
    web.get(f"/import/{_ID}", imports.status, name="import_status"),
    web.get(f"/import/{_ID}/undo", imports.ask_undo, name="ask_undo_import"),
    web.post(f"/import/{_ID}/undo", imports.undo, name="undo_import"),
    web.post(f"/import/{_ID}/again", imports.again, name="import_again"),
    web.post(f"/import/{_ID}/capture", imports.capture, name="import_capture"),
    web.get("/access", access.access, name="access"),
    web.post("/access", access.change, name="change_access"),
    web.get(f"/import/{_ID}/receipt.{{form:csv|json}}", imports.receipt, name="import_receipt"),
    web.get("/import/look/{token:[0-9a-f]{32}}", import_look.look, name="import_look"),
    web.post("/import/look/{token:[0-9a-f]{32}}", import_look.confirm, name="import_confirm"),
    web.get("/login", login.form, name="login"),
    web.post("/login", login.sign_in, name="sign_in"),
    web.post("/logout", login.sign_out, name="sign_out"),
    web.post("/language", language.choose, name="choose_language"),
    # The archive itself
    web.get("/web/cdx", cdx.pywb, name="cdx_pywb"),
    web.get(f"/web/{_URL}", replay.replay, name="replay"),
    web.get(f"/timegate/{_URL}", memento.time_gate, name="time_gate"),
    web.get(f"/timemap/link/{_URL}", memento.link_time_map, name="link_time_map"),
    web.get(f"/timemap/json/{_URL}", memento.json_time_map, name="json_time_map"),
    web.get("/cdx", cdx.wayback, name="cdx"),
    web.get("/cdx/search/cdx", cdx.wayback, name="cdx_search"),
    web.get("/wayback/available", cdx.available, name="available"),
    # The API
    web.post("/api/v1/entries", api_entries.save, name="api_save"),
    web.get("/api/v1/entries", api_entries.listing, name="api_entries"),
    web.get("/api/v1/summary", api_entries.summary, name="api_summary"),
    web.get(f"/api/v1/entries/{_HASH}", api_entries.show, name="api_entry"),
    web.patch(f"/api/v1/entries/{_HASH}", api_entries.edit, name="api_edit"),
    web.delete(f"/api/v1/entries/{_HASH}", api_entries.delete, name="api_delete"),
    web.delete(
        f"/api/v1/entries/{_HASH}/snapshots/{_TIMESTAMP}",
        api_entries.delete_snapshot,
        name="api_delete_snapshot",
    ),
    web.post(
        r"/api/v1/deletions/{id:\d{1,15}}/undo", api_entries.undelete, name="api_undo_deletion"
    ),
    web.get(f"/api/v1/entries/{_HASH}/compare", api_entries.compare, name="api_compare"),
    web.post(f"/api/v1/entries/{_HASH}/highlights", api_highlights.add, name="api_highlight"),
    web.patch(_HIGHLIGHT, api_highlights.change, name="api_change_highlight"),
    web.delete(_HIGHLIGHT, api_highlights.remove, name="api_remove_highlight"),
    web.get("/api/v1/feeds", api_feeds.listing, name="api_feeds"),
    web.post("/api/v1/feeds", api_feeds.follow, name="api_follow"),
    web.delete("/api/v1/feeds", api_feeds.unfollow, name="api_unfollow"),
    web.get("/api/v1/highlights", api_highlights.listing, name="api_highlights"),
    web.get(
        f"/api/v1/entries/{_HASH}/snapshots/{_ANY_TIMESTAMP}",
        api_entries.snapshot,
        name="api_snapshot",
    ),
    web.get("/api/v1/lists", api_lists.listing, name="api_lists"),
    web.post("/api/v1/lists", api_lists.make, name="api_make_list"),
    web.patch("/api/v1/lists", api_lists.change, name="api_change_list"),
    web.delete("/api/v1/lists", api_lists.delete, name="api_delete_list"),
    web.post("/api/v1/lists/order", api_lists.order, name="api_order_list"),
    web.post(
        "/api/v1/captures", api_captures.hand_in, name="api_hand_in", expect_handler=expect_file
    ),
    web.post("/api/v1/imports", api_imports.start, name="api_import", expect_handler=expect_file),
    web.get("/api/v1/imports", api_imports.recent, name="api_imports"),
    web.post(
        "/api/v1/imports/look", api_imports.look, name="api_import_look", expect_handler=expect_file
    ),
    web.get(f"/api/v1/imports/{_ID}", api_imports.show, name="api_import_status"),
    web.get(f"/api/v1/imports/{_ID}/receipt", api_imports.receipt, name="api_import_receipt"),
    web.get(f"/api/v1/imports/{_ID}/failures", api_imports.failures, name="api_import_failures"),
    web.post(f"/api/v1/imports/{_ID}/again", api_imports.again, name="api_import_again"),
    web.post(f"/api/v1/imports/{_ID}/capture", api_imports.capture, name="api_import_capture"),
    web.get(f"/api/v1/imports/{_ID}/undo", api_imports.undo_plan, name="api_import_undo_plan"),
    web.post(f"/api/v1/imports/{_ID}/undo", api_imports.undo, name="api_import_undo"),
    web.post("/api/v1/rescue", api_rescue.ask, name="api_rescue"),
    web.get("/api/v1/jobs", api_jobs.show, name="api_jobs"),
    web.get("/api/v1/queue", api_jobs.queue, name="api_queue"),
    web.get("/api/v1/events", events.events, name="api_events"),
    web.get("/api/v1/openapi.json", openapi.document, name="openapi"),
    # Files and machines
    web.get("/static/{version:[0-9a-f]+}/{name:.+}", files.static, name="static"),
    web.get("/manifest.webmanifest", app_manifest.manifest, name="manifest"),
    web.get("/healthz", health.healthz, name="healthz"),
    web.get("/metrics", health.metrics, name="metrics"),
)
