// Follows jobs and imports while they are under way; the page tells the same without it.
const WORDS = { queued: "waiting", fetching: "fetching", saved: "saved", failed: "failed" };

function showJob(job) {
  const row = document.querySelector(`[data-job="${job.id}"]`);
  if (!row) return;
  const state = row.querySelector(".state");
  row.dataset.state = job.state;
  state.className = `state ${job.state}`;
  state.textContent = WORDS[job.state] ?? job.state;
  if (job.title) row.querySelector("a").textContent = job.title;
  const again = job.state === "queued" ? " It is tried again soon." : "";
  row.querySelector(".why").textContent = job.failure ? job.failure.message + again : "";
}

function phaseOf(status, open) {
  if (status.reading) return "Reading the file…";
  if (status.paused) return "Interrupted: it goes on by itself in a moment";
  if (open) return "Capturing…";
  return status.error ? "Stopped" : "Done";
}

function showImport(status) {
  const box = document.querySelector(`[data-import="${status.id}"]`);
  if (!box) return;
  const { queued, fetching, saved, failed } = status.counts;
  const values = { ...status, saved, failed };
  for (const field of box.querySelectorAll("[data-field]")) {
    field.textContent = values[field.dataset.field].toLocaleString("en");
  }
  const bar = box.querySelector("progress");
  const wanted = queued + fetching + saved + failed;
  bar.max = Math.max(wanted, 1);
  if (status.reading) bar.removeAttribute("value");
  else bar.value = wanted ? saved + failed : status.paused || status.error ? 0 : 1;
  const line = box.querySelector(".phase");
  const phase = phaseOf(status, queued + fetching > 0);
  if (line.textContent !== phase) line.textContent = phase;
}

function follow(query, atEnd) {
  const source = new EventSource(`/api/v1/events?${query}`);
  source.addEventListener("job", (event) => showJob(JSON.parse(event.data)));
  source.addEventListener("import", (event) => showImport(JSON.parse(event.data)));
  source.addEventListener("end", () => { source.close(); atEnd?.(); });
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
