// Typography settings and reading positions, both stored in this browser only.
const root = document.documentElement;
const article = document.querySelector(".reading");
const text = article?.querySelector(".text");
const MAX_PLACES = 200;

function read(key) {
  try { return JSON.parse(localStorage.getItem(key)) ?? {}; } catch { return {}; }
}
function keep(key, value) {
  try { localStorage.setItem(key, JSON.stringify(value)); } catch { /* storage is full or not allowed */ }
}

const look = document.querySelector(".look");
if (look) {
  look.hidden = false;
  const chosen = read("look");
  for (const field of look.querySelectorAll("select")) field.value = chosen[field.name] ?? "";
  look.addEventListener("change", ({ target }) => {
    if (target.value) chosen[target.name] = root.dataset[target.name] = target.value;
    else { delete chosen[target.name]; delete root.dataset[target.name]; }
    keep("look", chosen);
  });
}

// The position is the number of the paragraph at the top: it is valid for any font size.
const blocks = text ? [...text.querySelectorAll("p, li, pre, h2, h3, h4, figure, tr")] : [];
function topmost() {
  return blocks.findIndex((block) => block.getBoundingClientRect().bottom > 80);
}
if (blocks.length > 5) {
  const key = article.dataset.entry;
  const back = performance.getEntriesByType("navigation")[0]?.type;
  const place = read("places")[key];
  if (place > 2 && !location.hash && back !== "back_forward") blocks[place]?.scrollIntoView();
  let waiting;
  addEventListener("scroll", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const { [key]: _, ...others } = read("places");
      const at = topmost();
      const kept = Object.entries(others).slice(1 - MAX_PLACES);
      keep("places", Object.fromEntries(at > 2 ? [...kept, [key, at]] : kept));
    }, 300);
  }, { passive: true });
}
