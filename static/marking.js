// Highlights selected text of the article; without scripts the form below it does the same.
const text = document.querySelector("[data-text]");
const form = document.querySelector("[data-marking]");
const MOST = 5000;

function selected() {
  const selection = document.getSelection();
  if (!selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  return text.contains(range.startContainer) && text.contains(range.endContainer) ? range : null;
}

// Positions count code points, as in a TextPositionSelector; string indices count UTF-16 units.
function place(range) {
  const before = document.createRange();
  before.selectNodeContents(text);
  before.setEnd(range.startContainer, range.startOffset);
  const words = range.toString();
  const left = words.length - words.trimStart().length;
  return { quote: words.trim(), start: [...before.toString() + words.slice(0, left)].length };
}

function offer(bar, range) {
  const box = range.getBoundingClientRect();
  bar.hidden = false;
  const left = Math.min(Math.max(box.left, 8), innerWidth - bar.offsetWidth - 8);
  bar.style.setProperty("inset-inline-start", `${left + scrollX}px`);
  bar.style.setProperty("inset-block-start", `${box.bottom + scrollY + 8}px`);
}

if (text && form) {
  const bar = document.createElement("div");
  bar.className = "marker";
  bar.hidden = true;
  bar.setAttribute("role", "toolbar");
  bar.setAttribute("aria-label", form.dataset.label);
  for (const radio of form.querySelectorAll("[name=colour]")) {
    const button = document.createElement("button");
    button.className = `hl-${radio.value}`;
    button.textContent = radio.closest("label").textContent.trim();
    button.addEventListener("click", () => fill(radio, true));
    bar.append(button);
  }
  const note = document.createElement("button");
  note.textContent = form.dataset.note;
  note.addEventListener("click", () => fill(form.querySelector("[name=colour]:checked"), false));
  bar.append(note);
  bar.addEventListener("mousedown", (event) => event.preventDefault());
  document.querySelector("main").append(bar);

  const fill = (radio, send) => {
    const range = selected();
    if (!range) return;
    const { quote, start } = place(range);
    radio.checked = true;
    form.elements.quote.value = quote;
    form.elements.start.value = start;
    bar.hidden = true;
    if (send && quote && quote.length <= MOST) form.requestSubmit();
    else { form.closest("details").open = true; form.elements.note.focus(); }
  };
  document.addEventListener("selectionchange", () => {
    const range = selected();
    if (range && range.toString().trim()) offer(bar, range);
    else bar.hidden = true;
  });
}
