/** The built console: from `dist/console` of an image, else built once for these sources and kept in the data directory. */
import { readdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

const root = join(import.meta.dir, "../../..");
const sources = ["src/console", "src/programs/client", "package-lock.json"];

const Index = Type.Object({ page: Type.String(), files: Type.Array(Type.String()) });

/** A file as it is sent. */
export interface BuiltFile {
  readonly type: string;
  /** By content encoding; `identity` is always there. */
  readonly bodies: ReadonlyMap<string, Uint8Array<ArrayBuffer>>;
}

export interface BuiltConsole {
  /** The page of every address; `{base}` stands for the console's address. */
  readonly page: string;
  readonly files: ReadonlyMap<string, BuiltFile>;
}

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
  woff2: "font/woff2",
};

/** Media types of the files. */
export const fileTypes = Object.values(types).map((type) => type.split(";")[0] ?? type);

/** @returns null where the console was not built and cannot be built here @throws Error for sources that do not build */
export async function openBuilt(dataDir: string, prefersShipped: boolean): Promise<BuiltConsole> {
  const shipped = join(root, "dist/console");
  if (prefersShipped) {
    const ready = await readBuilt(shipped);
    if (ready !== null) return ready;
  }
  const folder = join(dataDir, "console", keyOfSources());
  return (await readBuilt(folder)) ?? (await build(folder));
}

async function build(folder: string): Promise<BuiltConsole> {
  // A process of its own: what building takes is given back.
  const building = Bun.spawn([process.execPath, join(root, "src/console/build.ts"), folder], {
    cwd: root,
    stdout: "ignore",
    stderr: "pipe",
  });
  const [code, told] = await Promise.all([building.exited, new Response(building.stderr).text()]);
  const built = code === 0 ? await readBuilt(folder) : null;
  if (built === null) throw new Error(`the console does not build: ${told.slice(0, 2_000)}`);
  return built;
}

/** @returns null where the folder holds no built console */
export async function readBuilt(folder: string): Promise<BuiltConsole | null> {
  const text = await readFile(join(folder, "index.json"), "utf8").catch(() => null);
  if (text === null) return null;
  const { page, files } = Value.Parse(Index, JSON.parse(text));
  const loaded = await Promise.all(files.map(async (name) => [name, await load(folder, name)] as const));
  return { page, files: new Map(loaded) };
}

const encodings = { br: ".br", gzip: ".gz", identity: "" };

async function load(folder: string, name: string): Promise<BuiltFile> {
  const bodies = new Map<string, Uint8Array<ArrayBuffer>>();
  for (const [encoding, suffix] of Object.entries(encodings)) {
    const bytes = await readFile(join(folder, name + suffix)).catch(() => null);
    if (bytes !== null) bodies.set(encoding, new Uint8Array(bytes));
  }
  const extension = name.slice(name.lastIndexOf(".") + 1);
  return { type: types[extension] ?? "application/octet-stream", bodies };
}

/** Changes with every source: names, sizes and times say so without reading them. */
function keyOfSources(): string {
  const hash = new Bun.CryptoHasher("sha256");
  const add = (path: string): void => {
    const at = statSync(path);
    if (at.isDirectory()) {
      for (const name of readdirSync(path).sort()) add(join(path, name));
      return;
    }
    hash.update(`${relative(root, path)}:${at.size}:${at.mtimeMs}\n`);
  };
  for (const source of sources) add(join(root, source));
  return hash.digest("hex").slice(0, 16);
}
