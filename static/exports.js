// Updates the list of prepared exports while one of them is being written.
const EVERY_MS = 2000;

async function update() {
  const list = document.querySelector("#exports[data-busy]");
  if (!list) return;
  try {
    const answer = await fetch(location.pathname + location.search);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("#exports");
    for (const item of [...list.children]) {
      const other = fresh?.querySelector(`[id="${item.id}"]`);
      if (!other) item.remove();
      else if (other.outerHTML !== item.outerHTML && !item.contains(document.activeElement)) item.replaceWith(other);
    }
    if (fresh && !fresh.hasAttribute("data-busy")) delete list.dataset.busy;
  } catch {
    // The service restarts or the network is gone: try again.
  }
  setTimeout(update, EVERY_MS);
}

setTimeout(update, EVERY_MS);
