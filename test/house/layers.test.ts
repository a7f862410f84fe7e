import { expect, test } from "bun:test";
import { forbiddenImports, impureActors } from "./layers.ts";
import { importsOf, readSources, type Source } from "./sources.ts";

function source(path: string, text: string): Source {
  return { path, text, imports: importsOf(text) };
}

test("imports go down the house only", async () => {
  expect(forbiddenImports(await readSources("actors", "src"))).toEqual([]);
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
  ["src/http/app.ts", "../identity/tokens.ts", true],
  ["src/identity/tokens.ts", "../http/app.ts", false],
  ["src/http/app.ts", "../features/agents/routes.ts", false],
  ["src/adapters/models/port.ts", "../sandbox/port.ts", true],
  ["src/runtime/lane/lane.ts", "../../store/postgres.ts", true],
  ["src/store/redis.ts", "../runtime/lane/lane.ts", false],
  ["src/runtime/lane/lane.ts", "../../features/executions/start/start.ts", false],
  ["src/store/embedded/daemon.ts", "../../lib/secret.ts", true],
  ["actors/execution/life.ts", "../kernel/actor.ts", true],
  ["actors/execution/life.ts", "../../src/lib/secret.ts", false],
  ["src/lib/secret.ts", "../main.ts", false],
  ["src/features/agents/routes.ts", "../../../test/harness/until.ts", false],
  ["src/programs/bootstrap/main.ts", "../../features/agents/routes.ts", false],
  ["src/programs/dead-letters/main.ts", "../../node/config.ts", true],
  ["src/programs/dead-letters/main.ts", "../../runtime/port.ts", true],
  ["src/adapters/sandbox/process/end.ts", "../../../programs/dead-letters/main.ts", false],
])("%s importing %s: %p", (path, specifier, allowed) => {
  for (const statement of [
    `import { x } from "${specifier}";`,
    `import type { x } from "${specifier}";`,
    `export * from "${specifier}";`,
  ]) {
    expect(forbiddenImports([source(path, statement)]).length === 0).toBe(allowed);
  }
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
