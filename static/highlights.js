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

// A highlight that begins or ends within a word is extended to the whole word.
const NEAR = 60;
function boundaries(full, from, to) {
  const segmenter = globalThis.Intl?.Segmenter && new Intl.Segmenter(text.closest("[lang]")?.lang, { granularity: "word" });
  if (!segmenter) return [from, to];
  const word = (at) => {
    const start = Math.max(at - NEAR, 0);
    const { index, segment, isWordLike } = segmenter.segment(full.slice(start, at + NEAR)).containing(at - start);
    return isWordLike ? [start + index, start + index + segment.length] : [at, at + 1];
  };
  return [word(from)[0], word(to - 1)[1]];
}

// Positions count code points, as in a TextPositionSelector; string indices count UTF-16 units.
function place(range) {
  const whole = document.createRange();
  whole.selectNodeContents(text);
  const full = whole.toString();
  whole.setEnd(range.startContainer, range.startOffset);
  const before = whole.toString().length;
  const words = range.toString();
  const from = before + words.length - words.trimStart().length;
  const [start, end] = boundaries(full, from, before + words.trimEnd().length);
  return { quote: full.slice(start, end), start: [...full.slice(0, start)].length };
}

function offer(bar, box) {
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
  let kept = null; // the selection, while the note has the focus
  const note = document.createElement("textarea");
  note.hidden = true;
  note.rows = 2;
  note.maxLength = 10000;
  note.placeholder = form.dataset.note;
  note.setAttribute("aria-label", form.dataset.note);
  const mark = (radio) => {
    const range = selected();
    const { quote, start } = kept ?? (range ? place(range) : {});
    if (!quote || quote.length > MOST) return;
    radio.checked = true;
    form.elements.quote.value = quote;
    form.elements.start.value = start;
    form.elements.note.value = note.value;
    form.requestSubmit();
  };
  for (const radio of form.querySelectorAll("[name=colour]")) {
    const words = radio.title;
    const button = Object.assign(document.createElement("button"), { type: "button", className: `swatch hl-${radio.value}`, title: words });
    button.setAttribute("aria-label", words);
    button.addEventListener("click", () => mark(radio));
    bar.append(button);
  }
  const noting = Object.assign(document.createElement("button"), { type: "button", textContent: form.dataset.note });
  noting.addEventListener("click", () => {
    const range = selected();
    if (!range) return;
    kept = place(range);
    note.hidden = false;
    note.focus();
  });
  const close = () => {
    bar.hidden = note.hidden = true;
    note.value = "";
    kept = null;
  };
  bar.append(noting, note);
  bar.addEventListener("mousedown", (event) => { if (event.target !== note) event.preventDefault(); });
  document.querySelector("main").append(bar);
  document.addEventListener("selectionchange", () => {
    if (kept) return;
    const range = selected();
    if (range && range.toString().trim()) offer(bar, range.getBoundingClientRect());
    else bar.hidden = true;
  });
  document.addEventListener("keydown", ({ key }) => { if (key === "Escape") close(); });
  document.addEventListener("pointerdown", ({ target }) => { if (kept && !bar.contains(target)) close(); });
}

// A click on a highlight opens the form of the list below the article, to change or remove it.
let changing = null;
function closeChange() {
  changing?.remove();
  changing = null;
}
document.addEventListener("click", ({ target }) => {
  if (changing?.contains(target)) return;
  closeChange();
  const mark = target.closest("[data-text] mark[data-highlight]");
  const field = mark && !target.closest("a") && document.querySelector(`.highlight [name=id][value="${mark.dataset.highlight}"]`);
  if (!field || selected()) return;
  changing = field.form.cloneNode(true);
  changing.className = "marker";
  changing.setAttribute("aria-label", field.form.closest("details").querySelector("summary").title);
  document.querySelector("main").append(changing);
  offer(changing, mark.getBoundingClientRect());
  changing.querySelector(":checked").focus({ preventScroll: true });
});
document.addEventListener("keydown", ({ key }) => { if (key === "Escape") closeChange(); });
