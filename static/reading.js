// Typography settings, stored in this browser, and reading positions.
const root = document.documentElement;
const article = document.querySelector(".reading");
const text = article?.querySelector(".text");

function read(key) {
  try { return JSON.parse(localStorage.getItem(key)) ?? {}; } catch { return {}; }
}
function keep(key, value) {
  try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* storage is full or not allowed */ }
}

const style = document.querySelector(".reading-style");
if (style) {
  style.hidden = false;
  const chosen = read("reading-style");
  for (const field of style.querySelectorAll("input")) field.checked = field.value === (chosen[field.name] ?? "");
  style.addEventListener("change", ({ target }) => {
    if (target.value) chosen[target.name] = root.dataset[target.name] = target.value;
    else { delete chosen[target.name]; delete root.dataset[target.name]; }
    keep("reading-style", chosen);
  });
}

// Images that are not archived are replaced by their description.
function markLost(image) {
  const name = image.alt ? article.dataset.lostName.replace("{name}", image.alt) : article.dataset.lost;
  const lost = Object.assign(document.createElement("span"), { className: "lost" });
  lost.setAttribute("role", "img");
  lost.setAttribute("aria-label", name);
  image.replaceWith(lost);
}
for (const image of text?.querySelectorAll("img") ?? []) {
  if (image.complete && !image.naturalWidth) markLost(image);
  else image.addEventListener("error", () => markLost(image), { once: true });
}

// The position is the number of the paragraph at the top: it is valid for any font size. It is stored
// on the server, so that another device continues there.
const blocks = text ? [...text.querySelectorAll("p, li, pre, h2, h3, h4, figure, tr")] : [];
const left = document.querySelector("[data-left]");
const topmost = () => blocks.findIndex((block) => block.getBoundingClientRect().bottom > 80);

function percentRead() {
  const { top, height } = text.getBoundingClientRect();
  return Math.round(100 * Math.min(Math.max((innerHeight - top) / height, 0), 1));
}

function showTimeLeft() {
  const minutes = Math.ceil(left.dataset.minutes * (100 - percentRead()) / 100);
  left.hidden = !minutes || scrollY < innerHeight / 2;
  left.textContent = left.dataset.left.replace("{n}", minutes);
}

if (blocks.length > 5) {
  const back = performance.getEntriesByType("navigation")[0]?.type;
  const place = Number(article.dataset.place ?? 0);
  if (place > 2 && !location.hash && back !== "back_forward") blocks[place]?.scrollIntoView();
  let [waiting, sent] = [0, place];
  const keep = () => {
    const at = topmost();
    const block = at > 2 ? at : 0;
    if (at < 0 || block === sent) return;
    sent = block;
    const body = new URLSearchParams({ block, percent: percentRead() });
    fetch(`${root.dataset.base}/${article.dataset.entry}/place`, { method: "POST", body, keepalive: true }).catch(() => { sent = -1; });
  };
  addEventListener("scroll", () => {
    if (left) showTimeLeft();
    clearTimeout(waiting);
    waiting = setTimeout(keep, 1500);
  }, { passive: true });
  addEventListener("pagehide", keep);
}
