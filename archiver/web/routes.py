"""Routes of the web application.

Middleware and metrics refer to routes by name.
"""

import re

from aiohttp import web

from archiver.model.export_kinds import BY_SUFFIX
from archiver.web import capture_queries, events, metrics, rendering, replay, static_files
from archiver.web.api import entries, imports, openapi
from archiver.web.pages import (
    access,
    crawl,
    editing,
    entry,
    exports,
    feeds,
    highlights,
    home,
    listing,
    settings,
    snapshot,
    tags_and_lists,
)
from archiver.web.pages import imports as pages_imports
from archiver.web.static_files import PREVIEW_IMAGE_PATH
from archiver.web.uploads import expect_file

_HASH = "{hash_url:[0-9a-f]{32}}"
_HIGHLIGHT = f"/api/v1/entries/{_HASH}/highlights/{{id:[0-9a-f]{{16}}}}"
_TIMESTAMP = "{timestamp:[0-9]{14}}"
_ANY_TIMESTAMP = "{timestamp:[0-9]{4,14}}"
_FORM = f"{{form:{'|'.join(map(re.escape, BY_SUFFIX))}}}"
_ID = "{id:[0-9]{1,18}}"
_URL = "{url:(?s:.*)}"
"""An archived URL with any escaped characters, including line ends."""

ROUTES: tuple[web.RouteDef, ...] = (
    # Pages
    web.get("/", home.home, name="home"),
    web.post("/add", home.add, name="add"),
    web.get("/save", home.save_page, name="save"),
    web.get("/snapshots", listing.listing, name="snapshots"),
    web.get("/search/help", listing.explain, name="search_help"),
    web.get("/api", openapi.page, name="api"),
    web.get(f"/{_HASH}/", entry.entry, name="entry"),
    web.get(f"/{_HASH}", entry.add_slash, name="entry_without_slash"),
    web.post(f"/{_HASH}/edit", entry.edit, name="edit_entry"),
    web.post(f"/{_HASH}/rescue", crawl.rescue, name="rescue"),
    web.get(f"/{_HASH}/compare", snapshot.compare, name="compare"),
    web.post(f"/{_HASH}/highlights", highlights.change, name="change_highlights"),
    web.get("/highlights", highlights.listing, name="highlights"),
    web.get("/highlights.{form:md|json}", highlights.export, name="export_highlights"),
    web.post(f"/{_HASH}/read-again", entry.extract_again, name="extract_again"),
    web.post(f"/{_HASH}/place", entry.store_reading_position, name="store_reading_position"),
    web.get(f"/{_HASH}/text", entry.text, name="entry_text"),
    web.get(f"/{_HASH}/index.md", entry.entry_markdown, name="entry_markdown"),
    web.get(f"/{_HASH}/{_TIMESTAMP}/", snapshot.snapshot, name="snapshot"),
    web.get(f"/{_HASH}/{_TIMESTAMP}", entry.add_slash, name="snapshot_without_slash"),
    web.get("/shown/{banner:[0-9a-f]{16}}", snapshot.framed_page, name="framed_page"),
    web.get(
        f"/{_HASH}/{_TIMESTAMP}/{{kind:picture|thumbnail|print}}",
        snapshot.rendition,
        name="rendition",
    ),
    web.get(
        f"{PREVIEW_IMAGE_PATH}{{digest:[0-9a-f]{{32}}}}",
        snapshot.preview_image,
        name="preview_image",
    ),
    web.get(f"/export/{_HASH}.{_FORM}", exports.download, name="export_entry"),
    web.get("/export", exports.page, name="export_page"),
    web.post("/export", exports.prepare, name="create_export"),
    web.post("/export/selected", exports.export_selected, name="export_selected"),
    web.get("/export/kept/{name:[a-z0-9.-]+}", exports.prepared, name="background_export"),
    web.post("/export/kept/{name:[a-z0-9.-]+}", exports.delete, name="delete_export"),
    web.get("/export/schema.json", exports.schema, name="export_schema"),
    web.get(f"/export/archive.{_FORM}", exports.download, name="export"),
    web.post("/edit", editing.edit_selected, name="edit_selected"),
    web.post("/capture", crawl.capture_selected, name="capture_selected"),
    web.post("/rescue", crawl.rescue_selected, name="rescue_selected"),
    web.post("/undo", editing.undo, name="undo"),
    web.get(f"/{_HASH}/delete", editing.confirm_deletion, name="confirm_delete"),
    web.post("/delete", editing.delete, name="delete"),
    web.post("/restore", editing.restore, name="restore"),
    web.get("/tags", tags_and_lists.tags, name="tags"),
    web.post("/tags", tags_and_lists.change_tag, name="change_tag"),
    web.get("/lists", tags_and_lists.lists, name="lists"),
    web.post("/lists", tags_and_lists.change_list, name="change_list"),
    web.post("/lists/order", tags_and_lists.order_lists, name="order_list"),
    web.get("/feed.{form:atom|json}", listing.feed, name="feed"),
    web.get("/feeds", feeds.feeds, name="feeds"),
    web.post("/feeds", feeds.change, name="change_feeds"),
    web.get("/feeds.opml", feeds.export_opml, name="feeds_outline"),
    web.get("/activity", crawl.work, name="activity"),
    web.get("/activity/progress", crawl.progress, name="activity_progress"),
    web.post("/activity", crawl.change, name="change_activity"),
    web.get("/crawl", crawl.redirect_from_crawl, name="crawl"),
    web.get("/settings", settings.settings, name="settings"),
    web.post("/settings", settings.change_settings, name="change_settings"),
    web.get("/settings/sites", settings.sites, name="sites"),
    web.post("/settings/sites", settings.change_sites, name="change_sites"),
    web.get(
        "/settings/{section:library|feeds|appearance|maintenance}",
        settings.settings,
        name="settings_section",
    ),
    web.post("/settings/maintenance", settings.maintain, name="maintain"),
    web.get("/components", settings.components, name="components"),
    web.get("/bin", settings.bin_page, name="bin"),
    web.post("/bin", settings.change_bin, name="change_bin"),
    web.post("/theme", rendering.choose_theme, name="choose_theme"),
    web.get("/import", pages_imports.form, name="import_form"),
    web.post("/import", pages_imports.upload, name="import_file", expect_handler=expect_file),
    web.post(
        "/import/page", pages_imports.upload_page, name="upload_page", expect_handler=expect_file
    ),
    web.get(f"/import/{_ID}", pages_imports.status, name="import_status"),
    web.get(f"/import/{_ID}/undo", pages_imports.confirm_undo, name="confirm_undo_import"),
    web.post(f"/import/{_ID}/undo", pages_imports.undo, name="undo_import"),
    web.post(f"/import/{_ID}/again", pages_imports.retry, name="retry_import"),
    web.post(f"/import/{_ID}/pause", pages_imports.pause, name="pause_import"),
    web.post(f"/import/{_ID}/cancel", pages_imports.cancel, name="import_cancel"),
    web.post(f"/import/{_ID}/capture", pages_imports.capture, name="import_capture"),
    web.get("/access", access.access, name="access"),
    web.post("/access", access.change, name="change_access"),
    web.get(
        f"/import/{_ID}/receipt.{{form:csv|json}}", pages_imports.report, name="import_receipt"
    ),
    web.get("/import/look/{token:[0-9a-f]{32}}", pages_imports.preview, name="preview_import"),
    web.post("/import/look/{token:[0-9a-f]{32}}", pages_imports.confirm, name="import_confirm"),
    web.get("/login", access.form, name="login"),
    web.post("/login", access.sign_in, name="sign_in"),
    web.post("/logout", access.sign_out, name="sign_out"),
    web.post("/language", rendering.choose_language, name="choose_language"),
    # The archive itself
    web.get("/web/cdx", capture_queries.pywb, name="cdx_pywb"),
    web.get(f"/web/{_URL}", replay.replay, name="replay"),
    web.get(f"/timegate/{_URL}", capture_queries.time_gate, name="time_gate"),
    web.get(f"/timemap/link/{_URL}", capture_queries.link_time_map, name="link_time_map"),
    web.get(f"/timemap/json/{_URL}", capture_queries.json_time_map, name="json_time_map"),
    web.get("/cdx", capture_queries.wayback, name="cdx"),
    web.get("/cdx/search/cdx", capture_queries.wayback, name="cdx_search"),
    web.get("/wayback/available", capture_queries.available, name="available"),
    # The API
    web.post("/api/v1/entries", entries.save, name="api_save_urls"),
    web.get("/api/v1/entries", entries.list_entries, name="api_entries"),
    web.get("/api/v1/summary", entries.summary, name="api_summary"),
    web.get("/api/v1/saved", entries.saved, name="api_find_saved"),
    web.get(f"/api/v1/entries/{_HASH}", entries.show_entry, name="api_entry"),
    web.patch(f"/api/v1/entries/{_HASH}", entries.edit, name="api_edit_entry"),
    web.delete(f"/api/v1/entries/{_HASH}", entries.delete, name="api_delete_entry"),
    web.delete(
        f"/api/v1/entries/{_HASH}/snapshots/{_TIMESTAMP}",
        entries.delete_snapshot,
        name="api_delete_snapshot",
    ),
    web.post(
        r"/api/v1/deletions/{id:\d{1,15}}/undo", entries.undo_deletion, name="api_undo_deletion"
    ),
    web.get(f"/api/v1/entries/{_HASH}/compare", entries.compare, name="api_compare"),
    web.post(
        f"/api/v1/entries/{_HASH}/highlights", entries.add_highlight, name="api_add_highlight"
    ),
    web.patch(_HIGHLIGHT, entries.change_highlight, name="api_change_highlight"),
    web.delete(_HIGHLIGHT, entries.remove_highlight, name="api_remove_highlight"),
    web.get("/api/v1/feeds", entries.list_feeds, name="api_feeds"),
    web.post("/api/v1/feeds", entries.follow, name="api_follow_feed"),
    web.delete("/api/v1/feeds", entries.unfollow, name="api_unfollow_feed"),
    web.get("/api/v1/highlights", entries.list_highlights, name="api_highlights"),
    web.get(
        f"/api/v1/entries/{_HASH}/snapshots/{_ANY_TIMESTAMP}",
        entries.snapshot,
        name="api_snapshot",
    ),
    web.get("/api/v1/tags", entries.list_tags, name="api_tags"),
    web.patch("/api/v1/tags", entries.change_tag, name="api_change_tag"),
    web.delete("/api/v1/tags", entries.delete_tag, name="api_delete_tag"),
    web.get("/api/v1/lists", entries.list_lists, name="api_lists"),
    web.post("/api/v1/lists", entries.make_list, name="api_create_list"),
    web.patch("/api/v1/lists", entries.change_list, name="api_change_list"),
    web.delete("/api/v1/lists", entries.delete_list, name="api_delete_list"),
    web.post("/api/v1/lists/order", entries.order_lists, name="api_order_list"),
    web.post(
        "/api/v1/captures", entries.upload_page, name="api_upload_page", expect_handler=expect_file
    ),
    web.post("/api/v1/imports", imports.start, name="api_import_file", expect_handler=expect_file),
    web.get("/api/v1/imports", imports.recent, name="api_imports"),
    web.post(
        "/api/v1/imports/look",
        imports.preview,
        name="api_preview_import",
        expect_handler=expect_file,
    ),
    web.get(f"/api/v1/imports/{_ID}", imports.show, name="api_import_status"),
    web.get(f"/api/v1/imports/{_ID}/receipt", imports.report, name="api_import_receipt"),
    web.get(f"/api/v1/imports/{_ID}/failures", imports.failures, name="api_import_failures"),
    web.post(f"/api/v1/imports/{_ID}/again", imports.retry, name="api_retry_import"),
    web.post(f"/api/v1/imports/{_ID}/capture", imports.capture, name="api_import_capture"),
    web.post(
        f"/api/v1/imports/{_ID}/{{action:pause|resume}}", imports.pause, name="api_pause_import"
    ),
    web.get(f"/api/v1/imports/{_ID}/undo", imports.undo_plan, name="api_import_undo_plan"),
    web.post(f"/api/v1/imports/{_ID}/undo", imports.undo, name="api_import_undo"),
    web.post("/api/v1/rescue", imports.ask_public_archives, name="api_rescue"),
    web.get("/api/v1/jobs", entries.show_job, name="api_jobs"),
    web.get("/api/v1/sites", entries.list_sites, name="api_sites"),
    web.put("/api/v1/sites/{host:[^/]+}", entries.set_site, name="api_set_site"),
    web.delete("/api/v1/sites/{host:[^/]+}", entries.remove_site, name="api_remove_site"),
    web.get("/api/v1/queue", entries.queue_status, name="api_queue"),
    web.get("/api/v1/events", events.events, name="api_events"),
    web.get("/api/v1/openapi.json", openapi.document, name="openapi"),
    # Static files, health check and metrics
    web.get("/static/{version:[0-9a-f]+}/{name:.+}", static_files.static, name="static"),
    web.get("/manifest.webmanifest", static_files.manifest, name="manifest"),
    web.get("/healthz", metrics.healthz, name="healthz"),
    web.get("/metrics", metrics.metrics, name="metrics"),
)
