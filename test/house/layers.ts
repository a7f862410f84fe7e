/**
 * Who may import whom: `node → features → http, identity, adapters → runtime → store → actors`, and `lib` from anywhere;
 * features only along their declared needs, through the doors of the other feature; no folders in a circle.
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
const wired = [
  "src/main.ts",
  "src/programs/audit/main.ts",
  "src/programs/migrate/main.ts",
  "src/programs/partitions/main.ts",
  "src/programs/waiting-messages/main.ts",
];

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

/** Files that others may import of an adapter or of a feature. */
const doors = { adapters: ["port.ts"], features: ["feature.ts", "port.ts", "schema.ts"] } as const;

/** Of a feature, what the rules need to know. */
export interface DeclaredFeature {
  /** The path of its folder in `src/features`. */
  readonly name: string;
  readonly needs: Readonly<Record<string, { readonly name: string }>>;
}

/** Files that belong to no feature, because no `feature.ts` in the list of features is theirs. */
export function unownedFiles(sources: readonly Source[], features: readonly DeclaredFeature[]): string[] {
  return sources
    .map(({ path }) => path)
    .filter((path) => path.startsWith("src/features/") && path !== declarations && ownerOf(path, features) === null);
}

/** Imports between features along a need that is not declared, as `importer → imported`. */
export function undeclaredNeeds(sources: readonly Source[], features: readonly DeclaredFeature[]): string[] {
  return edgesOf(sources).flatMap(([importer, imported]) => {
    const from = ownerOf(importer, features);
    const to = ownerOf(imported, features);
    if (from === null || to === null || from === to) return [];
    return Object.values(from.needs).some(({ name }) => name === to.name) ? [] : [`${importer} → ${imported}`];
  });
}

/** Imports of what an adapter or a feature keeps to itself, as `importer → imported`. */
export function internalImports(sources: readonly Source[], features: readonly DeclaredFeature[]): string[] {
  return edgesOf(sources)
    .filter(([importer, imported]) => {
      const room = roomOf(imported, features);
      if (room === null || room.folder === roomOf(importer, features)?.folder) return false;
      return !room.doors.some((door) => imported === `${room.folder}/${door}`);
    })
    .map((edge) => edge.join(" → "));
}

/** How `src/features/feature.ts` declares them belongs to all features. */
const declarations = "src/features/feature.ts";

function roomOf(path: string, features: readonly DeclaredFeature[]) {
  const [, tree, folder = ""] = path.split("/");
  if (tree === "adapters") return { folder: `src/adapters/${folder}`, doors: doors.adapters };
  const feature = ownerOf(path, features);
  return feature === null ? null : { folder: `src/features/${feature.name}`, doors: doors.features };
}

/** The feature whose folder holds the file; of nested ones the inner one. */
function ownerOf(path: string, features: readonly DeclaredFeature[]): DeclaredFeature | null {
  const holding = features.filter(({ name }) => path.startsWith(`src/features/${name}/`));
  return holding.sort((one, other) => other.name.length - one.name.length)[0] ?? null;
}

function edgesOf(sources: readonly Source[]): (readonly [importer: string, imported: string])[] {
  return sources.flatMap(({ path, imports }) =>
    imports
      .map((specifier) => resolveImport(path, specifier))
      .filter((target) => target !== null)
      .map((target) => [path, target] as const),
  );
}

/**
 * Folders of one parent that import each other in a circle, as `parent: folder, folder`. Files beside the folders are
 * no part of any: a folder may use what lies above it, and what lies above may use the folder.
 */
export function folderCycles(sources: readonly Source[]): string[] {
  const siblings = new Map<string, Map<string, Set<string>>>();
  for (const [importer, imported] of edgesOf(sources)) {
    if (layerOf(importer) === null || layerOf(imported) === null || wired.includes(importer)) continue;
    const [from, to] = [importer.split("/").slice(0, -1), imported.split("/").slice(0, -1)];
    const depth = from.findIndex((folder, at) => folder !== to[at]);
    const [one, other] = [from[depth], to[depth]];
    if (one === undefined || other === undefined) continue;
    const parent = from.slice(0, depth).join("/");
    const edges = siblings.get(parent) ?? new Map<string, Set<string>>();
    siblings.set(parent, edges.set(one, (edges.get(one) ?? new Set()).add(other)));
  }
  return [...siblings].flatMap(([parent, edges]) => {
    const circular = [...edges.keys()].filter((folder) => reachable(edges, folder).has(folder)).sort();
    return circular.length === 0 ? [] : [`${parent}: ${circular.join(", ")}`];
  });
}

function reachable(edges: ReadonlyMap<string, ReadonlySet<string>>, start: string): ReadonlySet<string> {
  const found = new Set<string>();
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const next of edges.get(folder) ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      open.push(next);
    }
  }
  return found;
}

/** The few packages that are pure; `cron-parser` as long as it is told the moment to reckon from. */
const pure = [
  "@sinclair/typebox",
  "ajv",
  "ajv-formats",
  "cron-parser",
  "handlebars",
  "re2js",
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
