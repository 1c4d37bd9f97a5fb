// Reads the article aloud with the voices of the browser, and marks the sentence that is read.
const button = document.querySelector("[data-listen]");
const text = document.querySelector("[data-text]");
const voices = globalThis.speechSynthesis;
const segmenter = globalThis.Intl?.Segmenter && new Intl.Segmenter(undefined, { granularity: "sentence" });
let [sentences, at, current] = [[], 0, null];

// The range of part of an element's text.
function rangeOf(element, from, to) {
  const range = document.createRange();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let passed = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const end = passed + node.length;
    if (from >= passed && from <= end) range.setStart(node, from - passed);
    if (to <= end) {
      range.setEnd(node, to - passed);
      break;
    }
    passed = end;
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

function stop() {
  current = null;
  voices.cancel();
  CSS.highlights?.delete("spoken");
  button.setAttribute("aria-pressed", "false");
  button.classList.remove("on");
}

function speak() {
  const sentence = sentences[at];
  if (!sentence || button.getAttribute("aria-pressed") !== "true") return stop();
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

if (button && text && voices && segmenter) {
  button.hidden = false;
  button.addEventListener("click", () => {
    if (button.getAttribute("aria-pressed") === "true") return stop();
    const place = sentences[at]?.block.getBoundingClientRect();
    const isVisible = place && place.bottom > 80 && place.top < innerHeight;
    if (!isVisible) [sentences, at] = [[...sentencesFrom(80)], 0];
    button.setAttribute("aria-pressed", "true");
    button.classList.add("on");
    speak();
  });
  addEventListener("pagehide", stop);
}
