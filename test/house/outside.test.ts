/** What talks to the service from outside uses its interface alone: console and command line by the client, the client by nothing. */
import { expect, test } from "bun:test";
import { readSources, resolveImport, type Source } from "./sources.ts";

/** Folder → what its files may import beside packages. */
const outside: Readonly<Record<string, readonly string[]>> = {
  "src/console/": ["src/console/", "src/programs/client/"],
  // The program of hosts runs the daemon, and shares with the service how frames and targets are written.
  "src/programs/svc/edge/": [
    "src/programs/svc/",
    "src/programs/edge-daemon/",
    "src/programs/",
    "src/lib/",
    "actors/",
    "package.json",
  ],
  "src/programs/svc/": ["src/programs/svc/", "src/programs/client/", "src/lib/", "package.json"],
  "src/programs/client/": ["src/programs/client/"],
};

/** Every import that leads elsewhere, as `importer → imported`. */
function strayImports(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, imports }) => {
    const may = Object.entries(outside).find(([folder]) => path.startsWith(folder))?.[1];
    if (may === undefined) return [];
    return imports
      .map((specifier) => resolveImport(path, specifier))
      .filter((target) => target !== null && !may.some((folder) => target.startsWith(folder)))
      .map((target) => `${path} → ${target}`);
  });
}

/** Names that browsers do not have. */
const notInBrowsers = /\b(Bun|process|Buffer)\.\w|from "(node:|bun)/;

test("console, command line and client import no part of the service", async () => {
  expect(strayImports(await readSources("src/console", "src/programs/svc", "src/programs/client"))).toEqual([]);
});

test("the client runs in browsers", async () => {
  const sources = await readSources("src/programs/client");
  expect(sources.length).toBeGreaterThan(4);
  expect(sources.filter(({ text }) => notInBrowsers.test(text)).map(({ path }) => path)).toEqual([]);
});

test.each([
  ["src/console/pages/runs.tsx", "../../programs/client/client.ts", true],
  ["src/console/pages/runs.tsx", "../kit/table.tsx", true],
  ["src/console/pages/runs.tsx", "react", true],
  ["src/console/pages/runs.tsx", "../../features/agents/schema.ts", false],
  ["src/console/pages/runs.tsx", "../../lib/secret.ts", false],
  ["src/programs/svc/agents/deploy.ts", "../../client/client.ts", true],
  ["src/programs/svc/agents/deploy.ts", "../../../lib/secret.ts", true],
  ["src/programs/svc/agents/deploy.ts", "../../../../actors/kernel/json.ts", false],
  ["src/programs/client/events.ts", "../../lib/timers.ts", false],
])("from outside: %s importing %s: %p", (path, specifier, allowed) => {
  expect(strayImports([{ path, text: "", imports: [specifier] }]).length === 0).toBe(allowed);
});
