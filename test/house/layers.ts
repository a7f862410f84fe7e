/**
 * Who may import whom: `main → features, gateway → http, models, sandbox, queues → store, runtime → actors`.
 * A folder under `src` that is not named here is a feature.
 */
import { resolveImport, type Source } from "./sources.ts";

type Layer =
  | "main"
  | "feature"
  | "http"
  | "identity"
  | "adapter"
  | "programs"
  | "runtime"
  | "store"
  | "base"
  | "config"
  | "actors";

const below: Record<Layer, readonly Layer[]> = {
  main: ["config", "feature", "http", "identity", "adapter", "programs", "runtime", "store", "base", "actors"],
  feature: ["http", "identity", "adapter", "runtime", "store", "base", "actors"],
  http: ["identity", "runtime", "store", "base", "actors"],
  identity: ["runtime", "store", "base", "actors"],
  adapter: ["programs", "runtime", "store", "base", "actors"],
  programs: ["base", "actors"],
  runtime: ["store", "base", "actors"],
  store: ["base", "actors"],
  base: ["actors"],
  config: ["base"],
  actors: [],
};

const folders: Record<string, Layer> = {
  http: "http",
  identity: "identity",
  models: "adapter",
  sandbox: "adapter",
  queues: "adapter",
  node: "main",
  programs: "programs",
  runtime: "runtime",
  store: "store",
};

/** Files directly under `src`; any other one is a small value that everybody may use. */
const files: Record<string, Layer> = {
  "main.ts": "main",

  "banner.ts": "main",
  "config.ts": "config",
  "config-executions.ts": "config",
  "config-file.ts": "config",
  "load-config.ts": "config",
  "setting.ts": "config",
};

/** Programs for operators are wired from every part, like `main.ts`. */
const wired = ["src/programs/dead-letters/main.ts"];

function placeOf(path: string): { layer: Layer; room: string } | null {
  const [tree, room = "", deeper] = path.split("/");
  if (tree === "actors") return { layer: "actors", room: "actors" };
  if (tree !== "src") return null;
  if (wired.includes(path)) return { layer: "main", room: "main.ts" };
  if (deeper === undefined) return { layer: files[room] ?? "base", room };
  return { layer: folders[room] ?? "feature", room };
}

/** Every import that goes up or sideways, as `importer → imported`. */
export function forbiddenImports(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, imports }) =>
    imports
      .map((specifier) => resolveImport(path, specifier))
      .filter((target) => target !== null && !mayImport(path, target))
      .map((target) => `${path} → ${target}`),
  );
}

function mayImport(importer: string, imported: string): boolean {
  const from = placeOf(importer);
  const to = placeOf(imported);
  if (from === null) return true;
  // Into tests, notes, scripts: nothing that ships depends on them.
  if (to === null) return imported === "package.json";
  const sameRoom =
    from.room === to.room || (from.layer === to.layer && ["feature", "base", "config", "main"].includes(from.layer));
  return sameRoom || below[from.layer].includes(to.layer);
}

/** The few packages that are pure; `cron-parser` as long as it is told the moment to reckon from. */
const pure = [
  "@sinclair/typebox",
  "ajv",
  "ajv-formats",
  "cron-parser",
  "handlebars",
  "ipaddr.js",
  "yaml",
  "node:crypto",
];

const impurities: readonly (readonly [RegExp, string])[] = [
  [/\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/, "reads the clock"],
  [/\bMath\.random\(|\brandomUUID\(|\brandomBytes\(|\bgetRandomValues\(/, "draws random numbers"],
  [/\bprocess\.|\bBun\.|\bfetch\(|\bsetTimeout\(|\bsetInterval\(/, "reaches outside"],
];

/** What makes a file of `actors/` impure, as `file: reason`. */
export function impureActors(sources: readonly Source[]): string[] {
  return sources
    .filter(({ path }) => path.startsWith("actors/"))
    .flatMap(({ path, text, imports }) => {
      const packages = imports.filter((specifier) => !specifier.startsWith("."));
      const foreign = packages.filter(
        (name) => !pure.some((allowed) => name === allowed || name.startsWith(`${allowed}/`)),
      );
      const code = text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
      const reasons = impurities.filter(([pattern]) => pattern.test(code)).map(([, reason]) => reason);
      return [...foreign.map((name) => `imports ${name}`), ...reasons].map((reason) => `${path}: ${reason}`);
    });
}
