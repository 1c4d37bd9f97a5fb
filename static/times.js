// Shows times in the browser's time zone; the tooltip has the original text in UTC.
const { lang } = document.documentElement;
const words = new Intl.DateTimeFormat(lang === "en" ? "en-GB" : lang, { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" });

export function localise(part) {
  for (const time of part.querySelectorAll("time[datetime$=Z]")) {
    const moment = new Date(time.dateTime);
    if (Number.isNaN(moment.valueOf()) || !time.textContent.endsWith("UTC")) continue;
    time.title ||= time.textContent;
    time.textContent = words.format(moment);
  }
}

localise(document);
