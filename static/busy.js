// Updates the parts of the page that show a running task, until the task has ended.
import { localise } from "./times.js";

const EVERY_MS = 1500;

async function update() {
  const parts = document.querySelectorAll("[data-busy]");
  if (!parts.length) return;
  try {
    const answer = await fetch(location.pathname + location.search);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of parts) {
      const fresh = page.getElementById(part.id);
      if (!fresh) continue; // an error page: try again
      localise(fresh);
      const focused = part.contains(document.activeElement) && document.activeElement.id;
      part.replaceWith(fresh);
      if (focused) document.getElementById(focused)?.focus();
    }
  } catch {
    // The service restarts or the network is gone: try again.
  }
  setTimeout(update, EVERY_MS);
}

setTimeout(update, EVERY_MS);
