// Runs in a world of its own before the page's scripts: notes when the page last changed, and what
// was taken away from it.
(() => {
  let changed = performance.now();
  const note = () => { changed = performance.now(); };
  const observer = new MutationObserver(note);
  const begin = () => observer.observe(document, {
    subtree: true, childList: true, attributes: true, characterData: true,
  });
  begin();
  globalThis.archiver = {
    covers: new WeakSet(),
    still: () => performance.now() - changed,
    scroll: async (limit) => {
      const until = performance.now() + limit;
      for (const each of document.querySelectorAll('img[loading=lazy], iframe[loading=lazy]')) {
        each.loading = 'eager';
      }
      const root = document.scrollingElement || document.documentElement;
      let last = -1;
      while (root && root.scrollTop !== last) {
        if (performance.now() >= until) return false;
        last = root.scrollTop;
        window.scrollBy({top: window.innerHeight, behavior: 'instant'});
        // A page hears of it with its next frame, which a busy machine shows late.
        await Promise.all([
          new Promise((done) => setTimeout(done, 120)),
          new Promise((done) => { requestAnimationFrame(done); setTimeout(done, until - performance.now()); }),
        ]);
      }
      return true;
    },
    top: () => window.scrollTo({top: 0, behavior: 'instant'}),
  };
})();
