// Runs in the page's own world: makes all shadow roots open, so that their content can be saved.
(() => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function attachShadow(init) {
    return attach.call(this, {...init, mode: 'open'});
  };
})();
