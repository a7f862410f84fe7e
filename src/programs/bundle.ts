/**
 * Programs that run outside the node are bundled to one file each at boot, kept under the data directory
 * and named by their content: an instance goes on with the file it began with while newer versions are deployed.
 */
import { existsSync } from "node:fs";
import { chmod, mkdir, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";

const sources = {
  bootstrap: join(import.meta.dir, "bootstrap/main.ts"),
  hand: join(import.meta.dir, "hand/main.ts"),
  init: join(import.meta.dir, "init/main.ts"),
  keeper: join(import.meta.dir, "../adapters/sandbox/docker/keeper/main.ts"),
  supervisor: join(import.meta.dir, "../adapters/sandbox/process/supervisor/main.ts"),
} as const;

export type ProgramName = keyof typeof sources;

/**
 * @returns the bundled file's absolute path, readable by everyone
 * @throws when the program does not build
 */
export async function bundleProgram(dataDir: string, name: ProgramName): Promise<string> {
  const built = await Bun.build({ entrypoints: [sources[name]], target: "bun", minify: true });
  const [output] = built.outputs;
  if (output === undefined) throw new Error(`${name} has no output`);
  const text = await output.text();
  const hash = new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);
  const directory = resolve(dataDir, "programs");
  const path = join(directory, `${name}-${hash}.js`);
  if (existsSync(path)) return path;
  await mkdir(directory, { recursive: true });
  const draft = `${path}.${process.pid}`;
  await writeFile(draft, text);
  await chmod(draft, 0o644);
  await rename(draft, path);
  return path;
}

/** The agents' bootstrap, as one file. */
export function bundleBootstrap(dataDir: string): Promise<string> {
  return bundleProgram(dataDir, "bootstrap");
}
