// Reads the article aloud with the voices of the browser, and marks the sentence that is read.
const buttons = [...document.querySelectorAll("[data-listen]")]; // in the bar, and in its menu
const text = document.querySelector("[data-text]");
const voices = globalThis.speechSynthesis;
const segmenter = globalThis.Intl?.Segmenter && new Intl.Segmenter(undefined, { granularity: "sentence" });
let [sentences, at, current] = [[], 0, null];

// The range of part of an element's text.
function rangeOf(element, from, to) {
  const range = document.createRange();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let start = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const end = start + node.length;
    if (from >= start && from <= end) range.setStart(node, from - start);
    if (to <= end) {
      range.setEnd(node, to - start);
      break;
    }
    start = end;
  }
  return range;
}

function* sentencesFrom(top) {
  for (const block of text.querySelectorAll("p, li, h2, h3, h4, blockquote, figcaption, td")) {
    if (block.querySelector("p, li") || block.getBoundingClientRect().bottom < top) continue;
    for (const { segment, index } of segmenter.segment(block.textContent)) {
      if (segment.trim()) yield { block, index, words: segment };
    }
  }
}

function showPressed(isPressed) {
  for (const button of buttons) {
    button.setAttribute("aria-pressed", isPressed);
    button.classList.toggle("on", isPressed);
  }
}

function stop() {
  current = null;
  voices.cancel();
  CSS.highlights?.delete("spoken");
  showPressed(false);
}

function speak() {
  const sentence = sentences[at];
  if (!sentence) return stop();
  const { block, index, words } = sentence;
  if (CSS.highlights) CSS.highlights.set("spoken", new Highlight(rangeOf(block, index, index + words.length)));
  const { top, bottom } = block.getBoundingClientRect();
  if (bottom > innerHeight || top < 0) block.scrollIntoView({ block: "center" });
  const utterance = current = new SpeechSynthesisUtterance(words);
  utterance.lang = block.closest("[lang]").lang;
  // An utterance that was cancelled may report its end after the next one has begun.
  utterance.onend = () => {
    if (utterance !== current) return;
    at += 1;
    speak();
  };
  utterance.onerror = () => { if (utterance === current) stop(); };
  voices.speak(utterance);
}

function listen() {
  if (current) return stop();
  const place = sentences[at]?.block.getBoundingClientRect();
  const isVisible = place && place.bottom > 80 && place.top < innerHeight;
  if (!isVisible) [sentences, at] = [[...sentencesFrom(80)], 0];
  showPressed(true);
  speak();
}

if (text && voices && segmenter) {
  for (const button of buttons) {
    button.hidden = false;
    button.addEventListener("click", listen);
  }
  addEventListener("pagehide", stop);
}
