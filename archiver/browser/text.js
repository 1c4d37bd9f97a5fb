// What a person reads of a page, so many characters of it at most: that in shadow roots too, which
// innerText passes by.
(limit) => {
  const found = document.body ? [document.body] : [];
  const look = (root) => {
    for (const each of root.querySelectorAll('*')) {
      if (!each.shadowRoot) continue;
      found.push(...each.shadowRoot.children);
      look(each.shadowRoot);
    }
  };
  look(document);
  // Of what is not rendered innerText gives all there is.
  const isShown = (each) => each === document.body || each.checkVisibility();
  return found.filter(isShown).map((each) => each.innerText || '').join('\n').slice(0, limit);
}
