// Updates the home page while jobs are running, and lists articles that are partly read. Reading
// positions are stored in this browser only.
import { localise } from "./times.js";

const LOOK_MS = 3000;
const MOST = 4;
const section = document.querySelector("[data-continue]");
const list = section?.querySelector("ul");

let places;
try { places = JSON.parse(localStorage.getItem("places")) ?? {}; } catch { places = {}; }

for (const key of Object.keys(section ? places : {}).reverse().slice(0, MOST)) {
  if (!/^[0-9a-f]{32}$/.test(key)) continue;
  const answer = await fetch(`${document.documentElement.dataset.base}/api/v1/entries/${key}`);
  if (!answer.ok) continue;
  const { entry } = await answer.json();
  if (entry.is_read) continue;
  const link = document.createElement("a");
  link.href = `/${key}/`;
  link.append(document.createElement("bdi"));
  link.firstChild.textContent = entry.title || entry.url;
  const item = document.createElement("li");
  item.append(link);
  list.append(item);
  section.hidden = false;
}

// A part that has focus or a text selection is not replaced until the user leaves it.
const isInUse = (part) => part.contains(document.activeElement) || !document.getSelection().isCollapsed;

async function look() {
  const answer = await fetch("/");
  if (!answer.ok || answer.redirected) return;
  const desk = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const part of document.querySelectorAll("[data-live]")) {
    const now = desk.getElementById(part.id);
    if (!now || isInUse(part)) continue;
    localise(now);
    if (now.innerHTML !== part.innerHTML) part.replaceWith(now);
  }
}

const isOpen = () => document.querySelector("[data-live=open], [data-state=queued], [data-state=fetching]");
let wasOpen = isOpen();
document.addEventListener("archiver:ended", () => look().catch(() => { /* try again, as below */ }));
setInterval(async () => {
  if (document.hidden || !(wasOpen || isOpen())) return;
  wasOpen = isOpen();
  await look().catch(() => { /* the service is not available: try again */ });
}, LOOK_MS);
