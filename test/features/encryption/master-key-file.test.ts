/** The key that development keeps in its data folder. */
import { expect, test } from "bun:test";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { masterKeyFromFile } from "../../../src/features/encryption/master-key-file.ts";
import { scratch } from "../../harness/scratch.ts";

const program = `
  const { masterKeyFromFile } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/features/encryption/master-key-file.ts"))});
  const keys = await Promise.all(Array.from({ length: 20 }, () => masterKeyFromFile(process.argv[1])));
  console.log([...new Set(keys.map(({ id }) => id))].join());
`;

test("made once: processes that start at once, and later ones, have the same key", async () => {
  const folder = join(scratch("kept-key"), "data");
  const started = Array.from({ length: 4 }, () => Bun.spawn([process.execPath, "-e", program, folder]));
  const ids = await Promise.all(started.map(({ stdout }) => new Response(stdout).text()));
  const { id } = await masterKeyFromFile(folder);
  expect(new Set(ids)).toEqual(new Set([`${id}\n`]));
  // No drafts are left.
  expect(readdirSync(folder)).toEqual(["master-key"]);
  const file = join(folder, "master-key");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(Buffer.from(readFileSync(file, "utf8"), "base64")).toHaveLength(32);
});

test.each(["", "\n", "c2hvcnQ=", "not a key at all"])(
  "a file that holds %j is refused, and left alone",
  async (content) => {
    const folder = scratch("kept-key");
    const file = join(folder, "master-key");
    writeFileSync(file, content);
    const error: unknown = await masterKeyFromFile(folder).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "StartFailure" });
    expect(String(error)).toContain("holds no key of 32 bytes in base64");
    expect(readFileSync(file, "utf8")).toBe(content);
  },
);
