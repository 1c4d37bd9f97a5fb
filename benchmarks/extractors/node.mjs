// Articles by libraries of npm, for benchmarks/reading.py: a line of JSON in, one out.
// Usage: node node.mjs NAME, in the directory of node_modules.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const require = createRequire(import.meta.url);
const { JSDOM, VirtualConsole } = require("jsdom");
const silent = { virtualConsole: new VirtualConsole() };

const readers = {
  "readability.js": async () => {
    const { Readability } = require("@mozilla/readability");
    return ({ html, url }) => {
      const found = new Readability(new JSDOM(html, { url, ...silent }).window.document).parse();
      return { html: found?.content, title: found?.title, author: found?.byline, date: found?.publishedTime };
    };
  },
  defuddle: async () => {
    const { Defuddle } = await import("defuddle/node");
    return async ({ html, url }) => {
      const { window } = new JSDOM(html, { url, ...silent });
      const found = await Defuddle(window.document, url, { useAsync: false });
      return { html: found.content, title: found.title, author: found.author, date: found.published };
    };
  },
};

const read = await readers[process.argv[2]]();
console.log = () => {};
console.warn = () => {};
console.error = () => {};
for await (const line of createInterface({ input: process.stdin })) {
  const begun = process.cpuUsage();
  let found;
  try {
    found = await read(JSON.parse(line));
  } catch (error) {
    found = { html: "", error: String(error) };
  }
  const { user, system } = process.cpuUsage(begun);
  process.stdout.write(JSON.stringify({ ...found, ms: (user + system) / 1000 }) + "\n");
}
