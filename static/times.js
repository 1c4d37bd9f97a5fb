// Shows times in the browser's time zone, and recent ones relative to now; the tooltip has the exact
// time.
const { lang } = document.documentElement;
const locale = lang === "en" ? "en-GB" : lang;
const words = new Intl.DateTimeFormat(locale, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });
const exact = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" });
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "auto", style: "short" });
const UNITS = [["day", 86400], ["hour", 3600], ["minute", 60]];
const RECENT_SECONDS = 7 * 86400;

export function ago(moment) {
  const seconds = (moment - Date.now()) / 1000;
  if (Math.abs(seconds) > RECENT_SECONDS) return "";
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? UNITS.at(-1);
  return relative.format(Math.round(seconds / size), unit);
}

export function localise(part) {
  for (const time of part.querySelectorAll("time[datetime$=Z]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    if ("ago" in time.dataset) time.textContent = ago(moment) || time.textContent;
    else if (time.textContent.endsWith("UTC")) {
      time.title ||= time.textContent;
      time.textContent = ("exact" in time.dataset ? exact : words).format(moment);
    }
  }
  for (const option of part.querySelectorAll("option[data-at]")) option.textContent = exact.format(new Date(option.dataset.at));
}

localise(document);
