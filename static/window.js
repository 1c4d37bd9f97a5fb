// The small window of the bookmarklet: it saves the page, takes tags and lists, and closes itself. It
// stays at one entry of its history, because browsers let only such a window close itself.
const UNTOUCHED_MS = 6000;

async function send(form) {
  const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  if (!answer.ok) throw new Error(answer.statusText);
  return answer.url;
}

for (const form of document.querySelectorAll("[data-sends]")) {
  const go = () => send(form).then((url) => location.replace(url), () => form.submit());
  form.addEventListener("submit", (event) => { event.preventDefault(); go(); });
  if (form.dataset.sends === "now") go();
}

const about = document.querySelector("[data-closes]");
if (about) {
  about.addEventListener("submit", (event) => {
    event.preventDefault();
    send(about).then(() => close(), () => about.submit());
  });
  const waiting = setTimeout(() => close(), UNTOUCHED_MS);
  for (const kind of ["keydown", "pointerdown"]) addEventListener(kind, () => clearTimeout(waiting), { once: true });
}
