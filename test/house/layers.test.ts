import { expect, test } from "bun:test";
import { features } from "../../src/node/features.ts";
import {
  type DeclaredFeature,
  folderCycles,
  forbiddenImports,
  impureActors,
  internalImports,
  undeclaredNeeds,
  unownedFiles,
} from "./layers.ts";
import { importsOf, readSources, type Source } from "./sources.ts";

function source(path: string, text: string): Source {
  return { path, text, imports: importsOf(text) };
}

test("imports go down the house only", async () => {
  expect(forbiddenImports(await readSources("actors", "src"))).toEqual([]);
});

test("features import along their declared needs only", async () => {
  const sources = await readSources("src/features");
  expect(unownedFiles(sources, features)).toEqual([]);
  expect(undeclaredNeeds(sources, features)).toEqual([]);
});

test("adapters and features are entered by their doors only", async () => {
  expect(internalImports(await readSources("src"), features)).toEqual([]);
});

test("no folders import each other in a circle", async () => {
  expect(folderCycles(await readSources("actors", "src"))).toEqual([]);
});

test("actors are pure", async () => {
  expect(impureActors(await readSources("actors"))).toEqual([]);
});

test.each([
  ["src/main.ts", "./features/agents/routes.ts", true],
  ["src/main.ts", "./config/load.ts", true],
  ["src/features/agents/routes.ts", "../executions/start/start.ts", true],
  ["src/features/agents/routes.ts", "../../http/route.ts", true],
  ["src/features/agents/routes.ts", "../../../actors/agent/lifecycle.ts", true],
  ["src/features/agents/feature.ts", "../../config/setting.ts", true],
  ["src/runtime/lane/lane.ts", "../../config/setting.ts", false],
  ["src/http/app.ts", "../identity/tokens/tokens.ts", true],
  ["src/identity/tokens/tokens.ts", "../../http/app.ts", false],
  ["src/http/app.ts", "../features/agents/routes.ts", false],
  ["src/adapters/models/port.ts", "../sandbox/port.ts", true],
  ["src/runtime/lane/lane.ts", "../../store/postgres/pool.ts", true],
  ["src/store/redis/connections.ts", "../../runtime/lane/lane.ts", false],
  ["src/runtime/lane/lane.ts", "../../features/executions/start/start.ts", false],
  ["src/store/embedded/daemon.ts", "../../lib/secret.ts", true],
  ["actors/execution/turn.ts", "../kernel/actor.ts", true],
  ["actors/execution/turn.ts", "../../src/lib/secret.ts", false],
  ["src/lib/secret.ts", "../main.ts", false],
  ["src/features/agents/routes.ts", "../../../test/harness/until.ts", false],
  ["src/programs/bootstrap/main.ts", "../../features/agents/routes.ts", false],
  ["src/programs/waiting-messages/main.ts", "../../node/config.ts", true],
  ["src/programs/waiting-messages/main.ts", "../../runtime/port.ts", true],
  ["src/adapters/sandbox/process/end.ts", "../../../programs/waiting-messages/main.ts", false],
])("%s importing %s: %p", (path, specifier, allowed) => {
  for (const statement of [
    `import { x } from "${specifier}";`,
    `import type { x } from "${specifier}";`,
    `export * from "${specifier}";`,
  ]) {
    expect(forbiddenImports([source(path, statement)]).length === 0).toBe(allowed);
  }
});

const limits: DeclaredFeature = { name: "limits", needs: {} };
const intake: DeclaredFeature = { name: "stimuli/intake", needs: { limits } };
const declared = [limits, intake, { name: "audit", needs: {} }];
const importing = (path: string, specifier: string) => [source(path, `import { x } from "${specifier}";`)];

test.each([
  ["src/features/stimuli/intake/ingest.ts", "../../limits/port.ts", true],
  ["src/features/stimuli/intake/processing/processor.ts", "../../../limits/feature.ts", true],
  ["src/features/stimuli/intake/processing/processor.ts", "../ingest.ts", true],
  ["src/features/limits/limiter.ts", "../feature.ts", true],
  ["src/features/stimuli/intake/ingest.ts", "../../audit/port.ts", false],
  ["src/features/limits/limiter.ts", "../stimuli/intake/port.ts", false],
])("along declared needs: %s importing %s: %p", (path, specifier, allowed) => {
  expect(undeclaredNeeds(importing(path, specifier), declared).length === 0).toBe(allowed);
});

test.each([
  ["src/features/stimuli/intake/ingest.ts", "../../limits/limiter.ts", false],
  ["src/features/stimuli/intake/ingest.ts", "../../limits/schema.ts", true],
  ["src/features/stimuli/intake/ingest.ts", "./records.ts", true],
  ["src/features/stimuli/intake/ingest.ts", "../../limits/rooms/port.ts", false],
  ["src/node/listeners.ts", "../features/limits/limiter.ts", false],
  ["src/node/context.ts", "../adapters/mail/port.ts", true],
  ["src/node/context.ts", "../adapters/sandbox/docker/engine.ts", false],
  ["src/features/limits/limiter.ts", "../../adapters/egress/guarded-fetch.ts", false],
  ["src/adapters/egress/proxy.ts", "../models/transport.ts", false],
  ["src/adapters/egress/proxy.ts", "./tunnel.ts", true],
])("by the doors: %s importing %s: %p", (path, specifier, allowed) => {
  expect(internalImports(importing(path, specifier), declared).length === 0).toBe(allowed);
});

test("a folder of features without a declaration is found", () => {
  const orphan = source("src/features/billing/service.ts", "");
  expect(unownedFiles([orphan, source("src/features/audit/audit.ts", "")], declared)).toEqual([orphan.path]);
});

test("folders in a circle are found, at any depth and over several steps", () => {
  const circle = [
    ...importing("src/runtime/lane/lane.ts", "../mailbox/calls.ts"),
    ...importing("src/runtime/mailbox/calls.ts", "../ownership/lease.ts"),
    ...importing("src/runtime/ownership/lease.ts", "../lane/options.ts"),
    ...importing("src/runtime/timers/timer.ts", "../lane/options.ts"),
  ];
  expect(folderCycles(circle)).toEqual(["src/runtime: lane, mailbox, ownership"]);
  expect(folderCycles(circle.slice(1))).toEqual([]);
});

test("a folder and the files beside it are no circle", () => {
  const nested = [
    ...importing("src/runtime/index.ts", "./lane/lane.ts"),
    ...importing("src/runtime/lane/lane.ts", "../port.ts"),
  ];
  expect(folderCycles(nested)).toEqual([]);
});

test.each([
  ['import { readFileSync } from "node:fs";', "imports node:fs"],
  ['import { Redis } from "ioredis";', "imports ioredis"],
  ["const at = Date.now();", "reads the clock"],
  ["const id = crypto.randomUUID();", "draws random numbers"],
  ["await fetch(address);", "reaches outside"],
])("%s in an actor is found", (text, reason) => {
  expect(impureActors([source("actors/x.ts", text)])).toEqual([`actors/x.ts: ${reason}`]);
});

test("a comment about the clock is no clock", () => {
  expect(
    impureActors([source("actors/x.ts", "/** Never Date.now(): the context says. */\n// nor fetch(x)\n")]),
  ).toEqual([]);
});
