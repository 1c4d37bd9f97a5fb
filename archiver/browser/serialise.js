// Returns the current page as HTML that looks the same without scripts, or null if it has more than
// `limit` characters. Runs in an isolated world.
async (limit) => {
  const VOID = new Set('area base br col embed hr img input link meta param source track wbr'.split(' '));
  const RAW = new Set(['style', 'xmp', 'noembed', 'noframes', 'plaintext']);
  // Scripts can put end tags into raw text; a parser would end the element there.
  const ENDS_RAW = /<\/(?=style|xmp|noembed|noframes|plaintext)/gi;
  const DROPPED = new Set(['script', 'noscript', 'template']);
  const HTML = 'http://www.w3.org/1999/xhtml';
  const MAX_DATA = 8 << 20;
  const TOO_LARGE = new Error('too large');
  const parts = [];
  let length = 0;

  const put = (text) => {
    length += text.length;
    if (length > limit) throw TOO_LARGE;
    parts.push(text);
  };
  const escapeText = (text) => text.replace(/[&<>\u00a0]/g, (c) => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '\u00a0': '&nbsp;'}[c]));
  const escapeValue = (text) => text.replace(/[&"<>\u00a0]/g, (c) => ({'&': '&amp;', '"': '&quot;', '<': '&lt;', '>': '&gt;', '\u00a0': '&nbsp;'}[c]));

  // blob: URLs exist only in this browser, so their content is written into the page.
  const blobs = new Map();
  const readBlob = async (url) => {
    try {
      const blob = await (await fetch(url)).blob();
      if (blob.size > MAX_DATA) return;
      const data = await new Promise((done, fail) => {
        const reader = new FileReader();
        reader.onload = () => done(reader.result);
        reader.onerror = fail;
        reader.readAsDataURL(blob);
      });
      blobs.set(url, data);
    } catch { /* it was revoked */ }
  };
  const drawn = (image) => {
    try {
      const canvas = document.createElement('canvas');
      canvas.width = image.naturalWidth;
      canvas.height = image.naturalHeight;
      canvas.getContext('2d').drawImage(image, 0, 0);
      const data = canvas.toDataURL();
      return data.length > MAX_DATA ? null : data;
    } catch { return null; }
  };
  const unblobbed = (text) => text.replace(/blob:[^\s"')]+/g, (url) => blobs.get(url) || url);

  const rulesOf = (sheet) => {
    try { return [...sheet.cssRules].map((rule) => rule.cssText).join('\n'); } catch { return null; }
  };
  const styleText = (element) => {
    const own = element.textContent;
    const sheet = element.sheet;
    const now = sheet && rulesOf(sheet);
    if (now === null || now === undefined || /@import/i.test(own)) return own;
    if (!own.trim()) return now;
    try {
      const parsed = new CSSStyleSheet();
      parsed.replaceSync(own);
      return rulesOf(parsed) === now ? own : now;
    } catch { return now; }
  };
  const putStyle = (css) => put(`<style>${unblobbed(css).replace(/<\/(style)/gi, '<\\/$1')}</style>`);
  const adopted = (root) => {
    for (const sheet of root.adoptedStyleSheets || []) {
      const css = rulesOf(sheet);
      if (css) putStyle(sheet.media.mediaText ? `@media ${sheet.media.mediaText} {${css}}` : css);
    }
  };

  // A style sheet can show what a `style` attribute hides; readers without style sheets would not.
  const styleAttribute = (element, value) => {
    if (!element.style || !/hidden|none/i.test(value)) return value;
    const shown = getComputedStyle(element), left = document.createElement('p').style;
    left.cssText = value;
    if (left.visibility === 'hidden' && shown.visibility === 'visible') left.removeProperty('visibility');
    if (left.display === 'none' && shown.display !== 'none') left.removeProperty('display');
    return left.length === element.style.length ? value : left.cssText;
  };

  // The saved page is UTF-8, so queries of URLs are resolved in the encoding of the original.
  const URLS = new Set('src href poster data action formaction background cite longdesc xlink:href'.split(' '));
  const UNCODED = /[^\s,"'()]*\?[^\s"'()]*[^\0-\x7f][^\s"'()]*/g;
  const resolve = (element, url) => {
    const link = element.ownerDocument.createElement('a');
    link.href = url;
    return link.href || url;
  };
  const encoded = (element, name, value) => {
    if (element.ownerDocument.characterSet === 'UTF-8' || !/\?.*[^\0-\x7f]/.test(value)) return value;
    if (URLS.has(name)) return resolve(element, value);
    return /^(image)?srcset$/.test(name) ? value.replace(UNCODED, (url) => resolve(element, url)) : value;
  };
  const encodedCss = (element, css) => (element.ownerDocument.characterSet === 'UTF-8' ? css
    : css.replace(/(url\(\s*["']?)([^"')]*)/gi, (all, start, url) => start + (url.match(UNCODED) ? resolve(element, url) : url)));

  const attributes = (element, name, replaced) => {
    for (const {name: given, value: stated} of element.attributes) {
      const key = given.toLowerCase();
      const value = key === 'style' ? styleAttribute(element, stated) : encoded(element, key, stated);
      if (key.startsWith('on') || key in replaced || key === 'nonce' || key === 'integrity') continue;
      if (/[\s"'<>/=]/.test(given)) continue;
      if (/^\s*javascript:/i.test(value)) continue;
      put(` ${given}="${escapeValue(value.includes('blob:') ? unblobbed(value) : value)}"`);
    }
    for (const [key, value] of Object.entries(replaced)) {
      if (value !== null) put(` ${key}="${escapeValue(value)}"`);
    }
  };
  const stateOf = (element, name) => {
    if (name === 'input') {
      if (element.type === 'password' || element.type === 'file') return {value: null};
      if (element.type === 'checkbox' || element.type === 'radio') return {checked: element.checked ? '' : null};
      return {value: element.value || null};
    }
    if (name === 'option') return {selected: element.selected ? '' : null};
    if (name === 'img' && element.src.startsWith('blob:')) {
      return {src: blobs.get(element.src) || drawn(element) || '', srcset: null};
    }
    if (name === 'img' || name === 'iframe') return {loading: null};
    if (name === 'details') return {open: element.open ? '' : null};
    if (name === 'dialog') return {open: element.open ? '' : null};
    return {};
  };
  const covers = (globalThis.archiver && archiver.covers) || new WeakSet();
  const isDropped = (element, name) => {
    if (covers.has(element)) return true;
    if (DROPPED.has(name)) return !(name === 'script' && /^application\/ld\+json$/i.test(element.type));
    if (name === 'link') {
      const rel = element.rel.toLowerCase();
      return /preload|prefetch|preconnect|prerender|serviceworker|import/.test(rel) && !/stylesheet|icon/.test(rel);
    }
    if (name === 'meta') {
      return /^(refresh|content-security-policy.*|origin-trial|x-frame-options)$/i.test(element.httpEquiv || '');
    }
    return name === 'base';
  };

  const putCanvas = (element) => {
    let data = null;
    try { data = element.toDataURL(); } catch { /* it may not be read */ }
    if (data === null || data.length > MAX_DATA) return false;
    put('<img');
    const style = getComputedStyle(element);
    const sizes = `width:${style.width};height:${style.height}`;
    attributes(element, 'img', {src: data, alt: element.getAttribute('aria-label') || '', style: `${sizes};${element.getAttribute('style') || ''}`});
    put('>');
    return true;
  };
  const putFrame = (element) => {
    let inner = null;
    try { inner = element.contentDocument; } catch { /* of another origin */ }
    const src = element.getAttribute('src') || '';
    const isWritten = element.hasAttribute('srcdoc') || /^$|^about:|^javascript:|^blob:|^data:/i.test(src.trim())
      || (inner && inner.scripts.length > 0);
    if (!inner || !inner.documentElement || !isWritten || depth >= 3) return false;
    put(`<${element.localName}`);
    const before = [parts.splice(0), length];
    depth += 1;
    let text = '';
    try { putDocument(inner); text = parts.join(''); } finally {
      depth -= 1;
      parts.length = 0;
      for (const each of before[0]) parts.push(each);
      length = before[1];
    }
    attributes(element, 'iframe', {src: null, srcdoc: text, sandbox: null, loading: null});
    put(`></${element.localName}>`);
    return true;
  };

  // Style sheets can show inline elements as blocks. White space is added around them, so that their
  // words do not join without style sheets. Options are always blocks.
  const INLINE = new Set('a abbr b button cite code em i kbd label mark q s small span strong time u'.split(' '));
  const apart = new WeakSet();
  const isApart = (element, name) => {
    if (name === 'option') return true;
    if (!INLINE.has(name) && !name.includes('-')) return false;
    const shown = getComputedStyle(element);
    return /^(block|flow-root|flex|grid|list-item|table)$/.test(shown.display)
      && /^(static|relative|sticky)$/.test(shown.position) && shown.float === 'none'
      && !/^(pre|break)/.test(getComputedStyle(element.parentElement || element).whiteSpace);
  };

  let depth = 0;
  const open = (element) => {
    const name = element.localName;
    if (element.namespaceURI === HTML && isApart(element, name)) {
      apart.add(element);
      put('\n');
    }
    put(`<${name}`);
    attributes(element, name, element.namespaceURI === HTML ? stateOf(element, name) : {});
    put('>');
  };
  // Writes a node up to its content; returns whether its content and end tag are to be written.
  const begin = (node) => {
    if (node.nodeType === Node.TEXT_NODE) {
      // Only HTML has raw text; in SVG the same names contain markup, which is escaped.
      const parent = node.parentNode;
      const isRaw = parent && parent.namespaceURI === HTML && RAW.has(parent.localName);
      put(isRaw ? node.data.replace(ENDS_RAW, '<\u200b/') : escapeText(node.data));
      return false;
    }
    if (node.nodeType !== Node.ELEMENT_NODE) return false;
    const name = node.localName;
    const isHtml = node.namespaceURI === HTML;
    if (isDropped(node, name) || (!isHtml && name === 'script')) return false;
    if (isHtml && name === 'style') {
      if (!node.disabled && !(node.sheet && node.sheet.disabled)) putStyleElement(node);
      return false;
    }
    if (isHtml && name === 'script') {
      put(`<script type="application/ld+json">${node.textContent.replace(/<\/script/gi, '<\\/script')}</script>`);
      return false;
    }
    if (isHtml && name === 'link' && node.href.startsWith('blob:') && node.sheet) {
      putStyle(rulesOf(node.sheet) || '');
      return false;
    }
    if (isHtml && name === 'canvas' && putCanvas(node)) return false;
    if (isHtml && name === 'iframe' && putFrame(node)) return false;
    open(node);
    if (isHtml && VOID.has(name)) return false;
    if (isHtml && name === 'textarea') {
      put(`\n${escapeText(node.value)}</textarea>`);
      return false;
    }
    if (isHtml && (name === 'pre' || name === 'listing')) put('\n');
    if (node.shadowRoot) {
      put('<template shadowrootmode="open">');
      adopted(node.shadowRoot);
      walk(node.shadowRoot);
      put('</template>');
    }
    return true;
  };
  const putStyleElement = (element) => {
    put('<style');
    attributes(element, 'style', {});
    put(`>${encodedCss(element, unblobbed(styleText(element))).replace(/<\/(style)/gi, '<\\/$1')}</style>`);
  };
  const end = (node) => {
    put(`</${node.localName}>${apart.has(node) ? '\n' : ''}`);
  };
  // Iterative, because pages can be nested deeper than the stack allows.
  const walk = (root) => {
    let node = root.firstChild;
    while (node) {
      if (begin(node)) {
        if (node.firstChild) { node = node.firstChild; continue; }
        end(node);
      }
      while (node && !node.nextSibling) {
        node = node.parentNode;
        if (!node || node === root) return;
        end(node);
      }
      node = node && node.nextSibling;
    }
  };
  const putDocument = (shown) => {
    if (shown.compatMode !== 'BackCompat') put('<!DOCTYPE html>');
    const root = shown.documentElement;
    put(`<${root.localName}`);
    attributes(root, 'html', {});
    put('>');
    if (shown.head === null) put('<head></head>');
    let isFirst = true;
    for (const child of root.childNodes) {
      if (isFirst && child.localName === 'head') {
        isFirst = false;
        put('<head>');
        put(`<meta charset="utf-8"><base href="${escapeValue(shown.baseURI)}">`);
        for (const each of child.childNodes) putTree(each);
        adopted(shown);
        put('</head>');
      } else putTree(child);
    }
    put(`</${root.localName}>`);
  };
  const putTree = (node) => {
    if (!begin(node)) return;
    walk(node);
    end(node);
  };

  const urls = new Set();
  for (const image of document.images) if (image.src.startsWith('blob:')) urls.add(image.src);
  for (const each of document.querySelectorAll('[style*="blob:"], [src^="blob:"], [href^="blob:"], [poster^="blob:"]')) {
    for (const found of each.outerHTML.slice(0, 4096).matchAll(/blob:[^\s"')&]+/g)) urls.add(found[0]);
  }
  for (const sheet of [...document.styleSheets, ...document.adoptedStyleSheets]) {
    for (const found of (rulesOf(sheet) || '').matchAll(/blob:[^\s"')]+/g)) urls.add(found[0]);
  }
  await Promise.all([...urls].slice(0, 100).map(readBlob));
  try { putDocument(document); } catch (error) {
    if (error === TOO_LARGE) return null;
    throw error;
  }
  return {html: parts.join(''), url: document.URL};
}
