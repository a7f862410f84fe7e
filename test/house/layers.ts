/**
 * Who may import whom: `node → features → http, identity, adapters → runtime → store → actors`, and `lib` from anywhere.
 */
import { resolveImport, type Source } from "./sources.ts";

type Layer =
  | "node"
  | "features"
  | "http"
  | "identity"
  | "adapters"
  | "programs"
  | "runtime"
  | "store"
  | "lib"
  | "config"
  | "actors";

const below: Record<Layer, readonly Layer[]> = {
  node: ["config", "features", "http", "identity", "adapters", "programs", "runtime", "store", "lib", "actors"],
  features: ["config", "http", "identity", "adapters", "programs", "runtime", "store", "lib", "actors"],
  http: ["identity", "runtime", "store", "lib", "actors"],
  identity: ["config", "runtime", "store", "lib", "actors"],
  adapters: ["config", "programs", "runtime", "store", "lib", "actors"],
  programs: ["lib", "actors"],
  runtime: ["store", "lib", "actors"],
  store: ["lib", "actors"],
  lib: ["actors"],
  config: ["lib", "actors"],
  actors: [],
};

/** Programs for operators are wired from every part, like `main.ts`. */
const wired = ["src/main.ts", "src/programs/dead-letters/main.ts"];

function layerOf(path: string): Layer | null {
  const [tree, room = ""] = path.split("/");
  if (tree === "actors") return "actors";
  if (tree !== "src") return null;
  if (wired.includes(path)) return "node";
  return room in below ? (room as Layer) : null;
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
  const from = layerOf(importer);
  const to = layerOf(imported);
  if (from === null) return true;
  // Into tests, notes, scripts: nothing that ships depends on them.
  if (to === null) return imported === "package.json";
  return from === to || below[from].includes(to);
}

/** The few packages that are pure; `cron-parser` as long as it is told the moment to reckon from. */
const pure = [
  "@sinclair/typebox",
  "ajv",
  "ajv-formats",
  "cron-parser",
  "handlebars",
  "ipaddr.js",
  "lru-cache",
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
