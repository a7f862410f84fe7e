/**
 * What our programs need to run inside any image, musl or glibc or without any C library: this process's own
 * executable, the dynamic loader it names and the libraries it loads, in one directory that containers get
 * read-only. The loader is called by its path with that directory to search, so nothing of the image is used,
 * and what our programs start finds the image's own loader and libraries as ever.
 */
import { closeSync, existsSync, openSync, readSync } from "node:fs";
import { chmod, copyFile, link, mkdir, realpath, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";

const interpreterSegment = 3;

/**
 * @param programs directory that the files' directory is made in, as `runtime-<hash>`
 * @returns name of that directory
 * @throws when the executable's libraries cannot be told
 */
export async function gatherRuntime(programs: string, executable: string = process.execPath): Promise<string> {
  const loader = interpreterOf(executable);
  const libraries = loader === null ? [] : librariesOf(loader, executable);
  const files: (readonly [name: string, source: string])[] = [
    ["bun", executable],
    ...(loader === null ? [] : [["ld.so", loader] as const]),
    ...libraries.map((path) => [basename(path), path] as const),
  ];
  const hasher = new Bun.CryptoHasher("sha256");
  for (const [name, source] of files) {
    const { size, mtimeMs } = await stat(source);
    hasher.update(`${name}\0${source}\0${size}\0${mtimeMs}\n`);
  }
  const name = `runtime-${hasher.digest("hex").slice(0, 16)}`;
  const directory = join(programs, name);
  if (existsSync(directory)) return name;
  const draft = join(programs, `.${name}.${crypto.randomUUID()}`);
  await mkdir(draft, { recursive: true, mode: 0o755 });
  for (const [file, source] of files) await place(source, join(draft, file));
  try {
    await rename(draft, directory);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(directory)) throw error;
  }
  return name;
}

/**
 * The words before a program's own, inside.
 * @param directory where the gathered files are inside
 */
export function runtimeCommand(directory: string, hasLoader: boolean): readonly string[] {
  const bun = join(directory, "bun");
  return hasLoader ? [join(directory, "ld.so"), "--library-path", directory, bun] : [bun];
}

async function place(named: string, target: string): Promise<void> {
  const source = await realpath(named);
  const { mode } = await stat(source);
  // A second name costs nothing, where the file is one that every user may run.
  if ((mode & 0o005) === 0o005) {
    const linked = await link(source, target).then(
      () => true,
      () => false,
    );
    if (linked) return;
  }
  await copyFile(source, target);
  await chmod(target, 0o755);
}

/** The dynamic loader that an ELF executable names; null for a static one. */
export function interpreterOf(executable: string): string | null {
  const file = openSync(executable, "r");
  try {
    const read = (at: number, length: number) => {
      const bytes = Buffer.alloc(length);
      return bytes.subarray(0, readSync(file, bytes, 0, length, at));
    };
    const header = read(0, 64);
    if (header.toString("latin1", 0, 4) !== "\x7fELF" || header[4] !== 2 || header[5] !== 1) {
      throw new Error(`${executable} is no 64-bit little-endian ELF file`);
    }
    const table = Number(header.readBigUInt64LE(32));
    const [entryBytes, entries] = [header.readUInt16LE(54), header.readUInt16LE(56)];
    for (let index = 0; index < entries; index += 1) {
      const entry = read(table + index * entryBytes, 56);
      if (entry.readUInt32LE(0) !== interpreterSegment) continue;
      const bytes = read(Number(entry.readBigUInt64LE(8)), Number(entry.readBigUInt64LE(32)));
      return bytes.toString("latin1").replace(/\0.*$/s, "");
    }
    return null;
  } finally {
    closeSync(file);
  }
}

/** The loader itself says which files it would load. */
function librariesOf(loader: string, executable: string): string[] {
  const { stdout, exitCode } = Bun.spawnSync([loader, "--list", executable], { env: {} });
  if (exitCode !== 0) throw new Error(`${loader} cannot list the libraries of ${executable}`);
  return stdout
    .toString()
    .split("\n")
    .flatMap((line) => /=> (\/\S+) \(/.exec(line)?.[1] ?? [])
    .filter((path) => path !== loader);
}
