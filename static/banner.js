// Shows the address of the page in the frame below. Scripts cannot read it across origins, so each
// load asks the service what the frame requested.
const { lang } = document.documentElement;
const locale = lang === "en" ? "en-GB" : lang; // as in times.js

function hide(selector, isHidden) {
  for (const each of document.querySelectorAll(selector)) each.hidden = isHidden;
}

function show({ url, title, read, at }, isFirst) {
  const banner = document.querySelector("[data-banner]");
  document.title = `${title} \u00b7 archiver`;
  banner.querySelector("[data-title] bdi").textContent = title;
  const time = banner.querySelector("[data-at] time");
  banner.querySelector("p").hidden = !at;
  if (at) {
    time.dateTime = at;
    time.textContent = new Date(at).toLocaleString(locale, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
  }
  hide("[data-own]", !isFirst);
  hide("[data-back]", isFirst);
  banner.querySelector("[data-read]").hidden = !read;
  if (read) banner.querySelector("[data-read]").href = read;
  for (const each of document.querySelectorAll("[data-live]")) each.href = url;
}

// With a password a link in the frame opens a page without access; this page may issue a token.
function leads(frame, address) {
  const isNew = Boolean(address) && led !== address;
  led = isNew ? address : undefined; // where nothing came of it, it is not asked for again and again
  if (isNew) frame.contentWindow.location.replace(address);
  return Boolean(address);
}

let own, led;
async function update(frame) {
  const answer = await fetch(`${document.documentElement.dataset.base}/shown/${document.querySelector("[data-banner]").dataset.banner}`);
  if (!answer.ok) return;
  const shown = await answer.json();
  if (leads(frame, shown.frame)) return;
  own ??= shown.url;
  hide("[data-forms]", !shown.has_form);
  if (own !== shown.url || !document.querySelector("[data-back]").hidden) show(shown, own === shown.url);
}

document.addEventListener("load", ({ target }) => target.matches?.("iframe.replay") && update(target), true);
// The frame may have loaded before this script.
for (const frame of document.querySelectorAll("iframe.replay")) update(frame);
