/** Tool servers as programs of one file each, in a directory that every user may read. */
import { chmodSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "../scratch.ts";

const sources = {
  filesystem: "node_modules/@modelcontextprotocol/server-filesystem/dist/index.js",
  everything: "node_modules/@modelcontextprotocol/server-everything/dist/index.js",
  memory: "node_modules/@modelcontextprotocol/server-memory/dist/index.js",
  odd: "test/harness/outside/odd-tools-program.ts",
} as const;
export type ToolServerName = keyof typeof sources;

export interface ToolServerPrograms {
  /** What sandboxes have to be shown. */
  readonly directory: string;
  /** The program that runs them. */
  readonly executable: string;
  program(name: ToolServerName): string;
}

/** Makes the named ones. @throws where this machine has no node */
export async function toolServerPrograms(...names: ToolServerName[]): Promise<ToolServerPrograms> {
  const directory = scratch("tool-servers");
  chmodSync(directory, 0o755);
  const node = Bun.which("node");
  if (node === null) throw new Error("node is needed");
  await Promise.all(
    names.map(async (name) => {
      const entry = join(import.meta.dir, "../../..", sources[name]);
      const built = await Bun.build({ entrypoints: [entry], target: "node" });
      await Bun.write(join(directory, `${name}.mjs`), built.outputs[0] ?? "");
    }),
  );
  return { directory, executable: realpathSync(node), program: (name) => join(directory, `${name}.mjs`) };
}
