// Hides known banners that ask for consent. Nothing is clicked, so nothing is agreed to. Runs in an
// isolated world.
() => {
  const KNOWN = `#onetrust-consent-sdk, #CybotCookiebotDialog, #CybotCookiebotDialogBodyUnderlay,
    #usercentrics-root, #usercentrics-cmp-ui, #didomi-host, .qc-cmp2-container, .fc-consent-root,
    [id^="sp_message_container_"], #truste-consent-track, .truste_overlay, .truste_box_overlay,
    #cmpbox, #cmpbox2, #cmpwrapper, .osano-cm-dialog, #iubenda-cs-banner, .cc-window.cc-banner,
    .cky-consent-container, .cky-overlay, #cookie-law-info-bar, #cookiescript_injected,
    #termly-code-snippet-support, .klaro .cookie-notice, .klaro .cookie-modal, #axeptio_overlay,
    #tarteaucitronRoot, .cmplz-cookiebanner, #moove_gdpr_cookie_info_bar, #BorlabsCookieBox,
    #ppms_cm_popup_overlay, #hs-eu-cookie-confirmation, #shopify-pc__banner, #_evidon_banner,
    .cookiefirst-root, #cc-main, #gdpr-consent-tool-wrapper, .evidon-consent-button`;
  const DIALOGS = '[role="dialog"], [role="alertdialog"], [aria-modal="true"], dialog[open]';
  const ASKS = /cookie|consent|gdpr/i;
  const MAX_TARGETS = 20;
  const MAX_TEXT = 8000;

  const asks = (element) => {
    const names = `${element.id} ${element.className} ${element.getAttribute('aria-label') || ''}`;
    if (!ASKS.test(names)) return false;
    const text = element.textContent;
    return text.length < MAX_TEXT && ASKS.test(text)
      && /fixed|sticky/.test(getComputedStyle(element).position);
  };
  const found = [...document.querySelectorAll(KNOWN)];
  for (const each of [...document.querySelectorAll(DIALOGS)].slice(0, 200)) {
    if (asks(each)) found.push(each);
  }
  const covers = globalThis.archiver.covers;
  for (const each of found.slice(0, MAX_TARGETS)) {
    each.style.setProperty('display', 'none', 'important');
    covers.add(each);
  }
  if (!found.length) return;
  for (const each of [document.documentElement, document.body]) {
    if (each && getComputedStyle(each).overflowY === 'hidden') {
      each.style.setProperty('overflow', 'auto', 'important');
    }
  }
}
