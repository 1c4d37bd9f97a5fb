// Returns the visible text of a page with that of its shadow roots, which innerText omits, up to
// `limit` characters.
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
  // For elements that are not rendered innerText returns hidden text as well.
  const isShown = (each) => each === document.body || each.checkVisibility();
  return found.filter(isShown).map((each) => each.innerText || '').join('\n').slice(0, limit);
}
