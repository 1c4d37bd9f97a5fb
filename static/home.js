// Updates the home page while jobs are running.
import { localise } from "./times.js";

const LOOK_MS = 3000;

// A part that has focus or a text selection is not replaced until the user leaves it.
const isInUse = (part) => part.contains(document.activeElement) || !document.getSelection().isCollapsed;

async function refresh() {
  const answer = await fetch(`${document.documentElement.dataset.base}/`);
  if (!answer.ok || answer.redirected) return;
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const now = fresh.getElementById(part.id);
    if (!now || isInUse(part)) continue;
    localise(now);
    if (now.innerHTML !== part.innerHTML) part.replaceWith(now);
  }
}

const isOpen = () => document.querySelector("[data-live=open], [data-state=queued], [data-state=fetching]");
let wasOpen = isOpen();
document.addEventListener("archiver:ended", () => refresh().catch(() => { /* try again, as below */ }));
setInterval(async () => {
  if (document.hidden || !(wasOpen || isOpen())) return;
  wasOpen = isOpen();
  await refresh().catch(() => { /* the service is not available: try again */ });
}, LOOK_MS);
