// Updates the progress of running jobs and imports; without scripts the page shows it on reload.
import { ago } from "./times.js";

const WORDS = JSON.parse(document.querySelector("#progress-words").textContent);
const PATIENCE_MS = 4000;
const { lang } = document.documentElement;
const numbers = new Intl.NumberFormat(lang === "en" ? "en-GB" : lang);

function reasonOf({ kind, status, message }) {
  if (kind === "http-status" && WORDS.failures[kind]) return WORDS.status.replace("{status}", status);
  return WORDS.failures[kind] ?? message;
}

function showJob(job) {
  const row = document.querySelector(`[data-job="${job.id}"]`);
  if (!row) return;
  const state = row.querySelector(".state");
  row.dataset.state = job.state;
  state.className = `state ${job.state}`;
  state.textContent = WORDS.states[job.state] ?? job.state;
  if (job.title) row.querySelector("a").textContent = job.title;
  const again = job.not_before ? ` ${WORDS.again.replace("{when}", ago(new Date(job.not_before)))}` : "";
  const failure = job.state === "fetching" ? null : job.failure;
  if (failure || job.state !== "queued") row.querySelector(".failure-reason").textContent = failure ? reasonOf(failure) + again : "";
}

function updateHeading() {
  const heading = document.querySelector("#jobs-title[data-open]");
  const states = [...document.querySelectorAll("[data-job]")].map((row) => row.dataset.state);
  if (!heading) return;
  const all = states.some((state) => state === "queued" || state === "fetching") ? "open"
    : states.includes("failed") ? "failed" : "saved";
  if (heading.textContent !== heading.dataset[all]) heading.textContent = heading.dataset[all];
}

function phaseOf(status, open) {
  if (status.reading) return WORDS.phases.reading;
  if (status.paused) return WORDS.phases.waiting;
  if (open) return status.captures_paused && !status.counts.fetching ? WORDS.phases.paused : WORDS.phases.capturing;
  return status.error ? WORDS.phases.incomplete : WORDS.phases.done;
}

// The time left is estimated from the pages captured since this page was opened.
const starts = new Map();
function showTimeLeft(box, id, done, open) {
  if (!starts.has(id)) starts.set(id, { at: Date.now(), done });
  const { at, done: before } = starts.get(id);
  const line = box.querySelector("[data-left]");
  if (!open || done - before < 3) { if (!open) line.hidden = true; return; }
  const minutes = (Date.now() - at) / (done - before) * open / 60000;
  const [text, n] = minutes < 90 ? [line.dataset.minutes, Math.ceil(minutes)] : [line.dataset.hours, Math.round(minutes / 60)];
  line.textContent = text.replace("{n}", numbers.format(n));
  line.hidden = false;
}

function showImport(status) {
  const box = document.querySelector(`[data-import="${status.id}"]`);
  if (!box) return;
  const { queued, fetching, saved, failed } = status.counts;
  const wanted = queued + fetching + saved + failed;
  showTimeLeft(box, status.id, saved + failed, queued + fetching);
  const values = { ...status, saved, failed, wanted };
  for (const field of box.querySelectorAll("[data-field]")) {
    field.textContent = numbers.format(values[field.dataset.field]);
    if (values[field.dataset.field]) field.parentElement.hidden = false;
  }
  const lead = box.querySelector(".progress-summary");
  if (lead) lead.hidden = !wanted;
  const bar = box.querySelector("progress");
  bar.max = Math.max(wanted, 1);
  if (status.reading) bar.removeAttribute("value");
  else bar.value = wanted ? saved + failed : status.paused || status.error ? 0 : 1;
  const line = box.querySelector(".phase");
  const phase = phaseOf(status, queued + fetching > 0);
  if (line.textContent !== phase) line.textContent = phase;
}

// A restart of the service takes a moment, so the first errors are not shown.
function showLostConnection(source) {
  const note = Object.assign(document.createElement("p"), { className: "alert", textContent: WORDS.lost });
  note.setAttribute("role", "alert");
  let waiting = 0;
  source.addEventListener("error", () => {
    if (!note.isConnected) waiting ||= setTimeout(() => document.querySelector("h1").after(note), PATIENCE_MS);
  });
  source.addEventListener("open", () => { clearTimeout(waiting); waiting = 0; note.remove(); });
}

function follow(query, atEnd) {
  const source = new EventSource(`${document.documentElement.dataset.base}/api/v1/events?${query}`);
  showLostConnection(source);
  source.addEventListener("job", (event) => { showJob(JSON.parse(event.data)); updateHeading(); });
  source.addEventListener("import", (event) => showImport(JSON.parse(event.data)));
  source.addEventListener("end", () => {
    source.close();
    document.dispatchEvent(new Event("archiver:ended"));
    atEnd?.();
  });
}

const open = [...document.querySelectorAll("[data-job]")].filter(
  (row) => row.dataset.state === "queued" || row.dataset.state === "fetching",
);
if (open.length) {
  const reload = document.querySelector("[data-reload]");
  const typed = () => [...document.querySelectorAll("textarea")].some((box) => box.value.trim());
  const ids = open.map((row) => row.dataset.job).join(",");
  follow(`jobs=${ids}`, reload ? () => typed() || location.reload() : undefined);
}
for (const box of document.querySelectorAll('[data-import][data-open="yes"]')) {
  follow(`import=${box.dataset.import}`, () => location.reload());
}
