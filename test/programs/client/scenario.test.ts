/** The client on Bun and in a browser, against a service that breaks streams, ends tokens and refuses. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { chromium } from "playwright-core";
import { until } from "../../harness/until.ts";
import "./scenario.ts";
import type { Scenario } from "./scenario.ts";
import { type BadService, startBadService } from "./service.ts";

/** Debian's, as `.ci/run` installs it. */
const program = Bun.which("chromium");
let script = "";
beforeAll(async () => {
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, "scenario.ts")],
    target: "browser",
    format: "iife",
  });
  script = (await built.outputs[0]?.text()) ?? "";
});
/** Also of a page: it hangs on nothing of this file. */
const play = (url: string) => (globalThis as unknown as { scenario: Scenario }).scenario(url);

const services: BadService[] = [];
const service = () => {
  const one = startBadService();
  services.push(one);
  return one;
};
afterAll(() => Promise.all(services.map((one) => one.stop())));

const told = { issues: [], requestId: null, waits: false };
const expected = {
  refusals: {
    "/refused": {
      status: 403,
      code: "insufficient_scope",
      message: "Not yours",
      issues: [{ path: "spec.task", message: "is missing", code: "required", line: 4 }],
      requestId: "r-7",
      waits: false,
    },
    "/proxy": { ...told, status: 502, code: "unknown_error", message: "502 Bad Gateway", requestId: "r-8" },
    "/signed": { ...told, status: 404, code: "tool_not_found", message: "No such tool" },
    "/later": { ...told, status: 429, code: "unknown_error", message: "429 Too Many Requests", waits: true },
  },
  streams: {
    // Each once, the half one not at all, the gap as it came.
    broken: [
      ["1", "message", { n: 1 }],
      ["2", "message", { n: 2 }],
      ["3", "message", { n: 3 }],
      ["4", "gap", { from: 4 }],
      ["5", "message", { n: 5 }],
    ],
    silent: [
      ["1", "message", "before"],
      ["2", "message", "after"],
    ],
    ended: [["7", "message", "last"]],
    refused: expect.objectContaining({ status: 403 }),
    first: ["first"],
    aborted: ["first", "second"],
    last: [
      ["1", "message", "first"],
      ["2", "message", "second"],
    ],
  },
  states: ["open", "lost", "open", "lost", "open"],
  calls: { renewed: { items: [], count: 0 }, names: ["a-0", "a-1", "a-2", "a-3", "a-4"], hung: "unreachable" },
  upload: { size: 70_000, ordered: true, sent: 70_000 },
};

/** What the service saw of it, the same from everywhere. */
async function requireServed(one: BadService): Promise<void> {
  const broken = one.of("/broken");
  expect(broken.map(({ last }) => last)).toEqual([null, "2", "2", "2", "4", "4", "4", "5"]);
  expect(broken.map(({ authorization }) => authorization)).toEqual([
    ...Array(3).fill("Bearer old"),
    ...Array(5).fill("Bearer new"),
  ]);
  expect(one.of("/silent").map(({ last }) => last)).toEqual([null, "1", "2", "2"]);
  const uploads = one.of("/v1/volumes/v/files/upload");
  expect(uploads.map(({ headers }) => headers.get("X-Filename"))).toEqual(Array(2).fill("r%C3%A4port.txt"));
  // No reader is left, of those that went on nor of those that left early.
  await until(() => one.readers() === 0, { what: "all readers to be gone" });
}

test("on Bun: streams, refusals, tokens, uploads", async () => {
  const one = service();
  expect(await play(one.url)).toEqual(expected);
  await requireServed(one);
}, 60_000);

test.skipIf(program === null)(
  "in a browser: the same",
  async () => {
    const one = service();
    const browser = await chromium.launch({ executablePath: program ?? "", args: ["--no-sandbox"] });
    try {
      const page = await browser.newPage();
      await page.goto(one.url);
      // The text of a module; its only export is what is called.
      const text = script.replace(/export \{\s*(\w+)\s*\};?\s*$/, "globalThis.scenario = $1;");
      await page.addScriptTag({ content: text, type: "module" });
      const result = await page.evaluate(play, one.url);
      expect(result).toEqual(expected);
    } finally {
      await browser.close();
    }
    await requireServed(one);
  },
  60_000,
);
