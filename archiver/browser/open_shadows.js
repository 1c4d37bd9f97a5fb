// Runs in the page's own world: closed shadow roots are opened, so that what they hold is kept.
(() => {
  const attach = Element.prototype.attachShadow;
  Element.prototype.attachShadow = function attachShadow(init) {
    return attach.call(this, {...init, mode: 'open'});
  };
})();
