/** What every backend of secrets does, through the port; each backend's own test calls this (docs/reference/secrets.md). */
import { describe, expect, test } from "bun:test";
import { Problem } from "../../../actors/kernel/problem.ts";
import type {
  Recorder,
  SecretContent,
  SecretPage,
  SecretStore,
  WriteCondition,
} from "../../../src/features/secrets/store.ts";

export interface BackendUnderTest {
  readonly store: SecretStore;
  /** Lists show version, size and time. */
  readonly describesEntries: boolean;
}

const plain = (value: string): SecretContent => ({ form: "plaintext", value });
const data = (fields: Record<string, string>): SecretContent => ({ form: "data", data: fields });

/** A recorder that counts what is put on record. */
export function counting(): Recorder & { readonly outcomes: string[] } {
  const outcomes: string[] = [];
  return {
    outcomes,
    within: async () => void outcomes.push("allowed"),
    outside: async (_details, outcome = "allowed") => void outcomes.push(outcome),
  };
}

const codeOf = async (work: Promise<unknown>): Promise<string> => {
  const error = await work.then(() => null).catch((thrown: unknown) => thrown);
  return error instanceof Problem ? error.code : String(error);
};

/** @param open gives the backend; called within the tests */
export function conformance(name: string, open: () => BackendUnderTest): void {
  const tenantOf = () => `t${crypto.randomUUID().replaceAll("-", "").slice(0, 20)}`;
  const write = (tenant: string, path: string, content: SecretContent, condition: WriteCondition = null) =>
    open().store.write(tenant, path, { content, condition, workId: crypto.randomUUID() }, counting());
  const all: SecretPage = { prefix: null, after: null, offset: 0, limit: 1000 };

  describe(`secrets in ${name}`, () => {
    test.each<[string, SecretContent]>([
      ["text", plain("correct horse")],
      ["no text at all", plain("")],
      ["text of many scripts and controls", plain('ä€𝄞\u0000\n"\\\u007f')],
      ["base64 in the standard alphabet", { form: "base64", value: "+/+/AA==" }],
      ["base64 in the URL-safe alphabet", { form: "base64", value: "-_-_AA" }],
      ["several values", data({ user: "app", password: "pä#$%", "with.dots": "" })],
      ["values of unusual names", data({ value: "x", toString: "y", constructor: "z" })],
    ])("%s comes back as it was written", async (_what, content) => {
      const tenant = tenantOf();
      const written = await write(tenant, "a/b", content);
      const read = await open().store.read(tenant, "a/b");
      expect(read).toMatchObject({ path: "a/b", content, version: written.version });
      expect(read?.updatedAt.getTime()).toBe(written.updatedAt.getTime());
    });

    test("versions count up, and a write replaces the value as a whole", async () => {
      const tenant = tenantOf();
      const first = await write(tenant, "p", data({ a: "1", b: "2" }));
      const second = await write(tenant, "p", data({ c: "3" }));
      expect([first.version, second.version]).toEqual([1, 2]);
      const read = await open().store.read(tenant, "p");
      expect(read?.content).toEqual(data({ c: "3" }));
      expect(read?.createdAt.getTime()).toBe(first.createdAt.getTime());
    });

    test("a condition that does not hold is version_conflict, and nothing is written", async () => {
      const tenant = tenantOf();
      expect(await codeOf(write(tenant, "p", plain("x"), 1))).toBe("version_conflict");
      const { version } = await write(tenant, "p", plain("one"), "new");
      expect(await codeOf(write(tenant, "p", plain("two"), "new"))).toBe("version_conflict");
      expect(await codeOf(write(tenant, "p", plain("two"), version + 1))).toBe("version_conflict");
      expect((await open().store.read(tenant, "p"))?.content).toEqual(plain("one"));
      await write(tenant, "p", plain("two"), version);
      expect((await open().store.read(tenant, "p"))?.content).toEqual(plain("two"));
      const both = await Promise.all(["a", "b"].map((text) => codeOf(write(tenant, "race", plain(text), "new"))));
      expect(both.sort()).toEqual(["null", "version_conflict"].sort());
    });

    test("a deleted secret is gone, and its path is new again", async () => {
      const tenant = tenantOf();
      await write(tenant, "p", plain("one"));
      const { store } = open();
      expect(await store.remove(tenant, "p", counting())).toBe(true);
      expect(await store.read(tenant, "p")).toBeNull();
      expect(await store.remove(tenant, "p", counting())).toBe(false);
      expect(await store.list(tenant, all)).toEqual([]);
      await write(tenant, "p", plain("two"), "new");
      expect((await store.read(tenant, "p"))?.content).toEqual(plain("two"));
    });

    test("lists are by path, by whole segments, page by page, and without values", async () => {
      const tenant = tenantOf();
      const paths = ["db", "db/b", "db/a/x", "db-2", "dbx/y", "a@b"];
      for (const path of paths) await write(tenant, path, plain(`of ${path}`));
      const { store, describesEntries } = open();
      const listed = async (page: Partial<SecretPage>) =>
        (await store.list(tenant, { ...all, ...page })).map(({ path }) => path);
      expect(await listed({})).toEqual(["a@b", "db", "db-2", "db/a/x", "db/b", "dbx/y"]);
      expect(await listed({ prefix: "db" })).toEqual(["db", "db/a/x", "db/b"]);
      expect(await listed({ prefix: "d" })).toEqual([]);
      expect(await listed({ after: "db", limit: 2 })).toEqual(["db-2", "db/a/x"]);
      expect(await listed({ offset: 4 })).toEqual(["db/b", "dbx/y"]);
      const [entry] = await store.list(tenant, all);
      const known = { path: "a@b", version: 1, sizeBytes: 6, updatedAt: expect.any(Date) };
      expect(entry).toEqual(
        describesEntries ? known : { path: "a@b", version: null, sizeBytes: null, updatedAt: null },
      );
    });

    test("another tenant neither reads, lists, writes over nor deletes it", async () => {
      const [mine, other] = [tenantOf(), tenantOf()];
      await write(mine, "p", plain("mine"));
      const { store } = open();
      expect(await store.read(other, "p")).toBeNull();
      expect(await store.list(other, all)).toEqual([]);
      expect(await store.remove(other, "p", counting())).toBe(false);
      await write(other, "p", plain("other"));
      await store.erase(other);
      expect(await store.read(other, "p")).toBeNull();
      expect((await store.read(mine, "p"))?.content).toEqual(plain("mine"));
    });

    test("a change that cannot be put on record is not made", async () => {
      const tenant = tenantOf();
      await write(tenant, "p", plain("one"));
      const broken: Recorder = {
        within: () => Promise.reject(new Error("no audit")),
        outside: () => Promise.reject(new Error("no audit")),
      };
      const { store } = open();
      const change = { content: plain("two"), condition: null, workId: crypto.randomUUID() };
      expect(await codeOf(store.write(tenant, "p", change, broken))).toContain("no audit");
      expect(await codeOf(store.remove(tenant, "p", broken))).toContain("no audit");
      expect((await store.read(tenant, "p"))?.content).toEqual(plain("one"));
    });
  });
}
