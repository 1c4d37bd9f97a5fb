// Runs in an isolated world before the page's scripts. Records when the page last changed and which
// elements were hidden (`covers`), and scrolls it.
(() => {
  let changed = performance.now();
  const note = () => { changed = performance.now(); };
  const observer = new MutationObserver(note);
  const begin = () => observer.observe(document, {
    subtree: true, childList: true, attributes: true, characterData: true,
  });
  begin();
  let scrolled = [];
  // Some pages scroll an element that fills most of the window instead of the document.
  const isMain = (each) => each.scrollHeight > each.clientHeight + 1
    && each.clientHeight >= innerHeight / 2 && each.clientWidth >= innerWidth / 2
    && /auto|scroll|overlay/.test(getComputedStyle(each).overflowY);
  const middle = () => {
    const at = [innerWidth / 2, innerHeight / 2];
    let each = document.elementFromPoint(...at), within = each;
    while ((within = within?.shadowRoot?.elementFromPoint(...at)) && within !== each) each = within;
    while (each && !isMain(each)) each = each.assignedSlot || each.parentElement || each.getRootNode().host;
    return each;
  };
  globalThis.archiver = {
    covers: new WeakSet(),
    still: () => performance.now() - changed,
    scroll: async (limit) => {
      const until = performance.now() + limit;
      for (const each of document.querySelectorAll('img[loading=lazy], iframe[loading=lazy]')) {
        each.loading = 'eager';
      }
      const to = async (root) => {
        let last = -1;
        while (root && root.scrollTop !== last) {
          if (performance.now() >= until) return false;
          last = root.scrollTop;
          root.scrollBy({top: Math.min(root.clientHeight || innerHeight, innerHeight), behavior: 'instant'});
          // The page gets the scroll event with its next frame, which can be late on a busy machine.
          await Promise.all([
            new Promise((done) => setTimeout(done, 120)),
            new Promise((done) => { requestAnimationFrame(done); setTimeout(done, until - performance.now()); }),
          ]);
        }
        return true;
      };
      scrolled = [document.scrollingElement || document.documentElement];
      if (!await to(scrolled[0])) return false;
      scrolled.push(middle());
      return to(scrolled[1]);
    },
    top: () => scrolled.forEach((each) => each?.scrollTo({top: 0, behavior: 'instant'})),
    // Pixels by which the window would have to be higher to show the whole scrolling element.
    beyond: () => scrolled[1] ? scrolled[1].scrollHeight - scrolled[1].clientHeight : 0,
    // Printed pages do not scroll, so the scrolling element and its ancestors get their full height.
    unroll: () => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(`@media print { [data-unrolled] { overflow: visible !important;
        position: static !important; height: auto !important; max-height: none !important; } }`);
      for (let each = scrolled[1]; each; each = each.parentElement || each.getRootNode().host) {
        each.setAttribute('data-unrolled', '');
        const root = each.getRootNode();
        if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets.push(sheet);
      }
    },
  };
})();
