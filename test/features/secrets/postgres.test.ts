/** Secrets in PostgreSQL (docs/reference/secrets.md). */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { createEncryption } from "../../../src/features/encryption/encryption.ts";
import { masterKeyOf } from "../../../src/features/encryption/envelope.ts";
import { reencryptRows } from "../../../src/features/encryption/reencryption.ts";
import { encryptedColumns, maxSecrets, postgresSecrets } from "../../../src/features/secrets/postgres/store.ts";
import type { SecretStore } from "../../../src/features/secrets/store.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { conformance, counting } from "./conformance.ts";

const [oldKey, newKey] = [
  masterKeyOf(Buffer.alloc(32, 1).toString("base64")),
  masterKeyOf(Buffer.alloc(32, 2).toString("base64")),
];
const incidents = { report: () => {} };
let stores: TestStores;
let store: SecretStore;
const storeWith = (current: typeof oldKey, previous: typeof oldKey | null) => {
  const encryption = createEncryption({ current, previous, incidents });
  return {
    encryption,
    store: postgresSecrets({ sql: stores.sql, encryption, now: Date.now, newId: () => Bun.randomUUIDv7() }),
  };
};
beforeAll(async () => {
  stores = await freshStores();
  ({ store } = storeWith(oldKey, null));
});
afterAll(() => stores?.dispose());

conformance("PostgreSQL", () => ({ store, describesEntries: true }));

const write = (path: string, value: string, workId: string = crypto.randomUUID()) =>
  store.write("acme", path, { content: { form: "plaintext", value }, condition: null, workId }, counting());

test("the same piece of work, repeated after a crash, writes once", async () => {
  const workId = crypto.randomUUID();
  const [first, again] = [await write("once", "x", workId), await write("once", "x", workId)];
  expect(again).toEqual(first);
  expect((await write("once", "y")).version).toBe(2);
});

test("a version never names two values: deleting does not turn it back", async () => {
  await write("kept", "one");
  await store.remove("acme", "kept", counting());
  expect((await write("kept", "two")).version).toBe(2);
});

test("deleting erases; a dump shows no value; another row opens no ciphertext", async () => {
  await write("dumped", "very-recognisable-value");
  const dump = async () => JSON.stringify(await stores.sql`select * from secrets where tenant = 'acme'`);
  expect(await dump()).not.toContain("very-recognisable");
  expect(await dump()).not.toContain(Buffer.from("very-recognisable").toString("base64").slice(0, 20));
  await write("other", "x");
  await stores.sql`
    update secrets set ciphertext = (select ciphertext from secrets where path = 'dumped' and tenant = 'acme')
    where path = 'other' and tenant = 'acme'`;
  expect(await store.read("acme", "other").catch((error) => error.code)).toBe("decryption_failed");
  await store.remove("acme", "dumped", counting());
  const [row] = await stores.sql`select ciphertext, size_bytes from secrets where tenant = 'acme' and path = 'dumped'`;
  expect(row).toEqual({ ciphertext: null, size_bytes: 0 });
});

test("after a rotation of the master key everything is encrypted again and can be read", async () => {
  await write("rotated", "still the same");
  const { encryption, store: next } = storeWith(newKey, oldKey);
  const [column] = encryptedColumns;
  if (column === undefined) throw new Error("no column");
  expect((await reencryptRows(stores.sql, encryption, column)).reencrypted).toBeGreaterThan(0);
  expect((await next.read("acme", "rotated"))?.content).toEqual({ form: "plaintext", value: "still the same" });
  store = storeWith(newKey, null).store;
  expect((await store.read("acme", "rotated"))?.content).toEqual({ form: "plaintext", value: "still the same" });
});

test("a tenant has at most 10,000 secrets, however many are written at once", async () => {
  await stores.sql`
    insert into secrets (id, tenant, path, version, encoding, ciphertext, size_bytes, written_by, created_at, updated_at)
    select gen_random_uuid(), 'full', 'n' || n, 1, 'plaintext', 'x', 1, gen_random_uuid(), now(), now()
    from generate_series(1, ${maxSecrets - 2}) n`;
  const put = (path: string) =>
    store
      .write(
        "full",
        path,
        { content: { form: "plaintext", value: "x" }, condition: null, workId: crypto.randomUUID() },
        counting(),
      )
      .then(() => "written")
      .catch((error) => `${error.status} ${error.code}`);
  const outcomes = await Promise.all(["a", "b", "c", "d"].map(put));
  expect(outcomes.sort()).toEqual(["402 quota_exceeded", "402 quota_exceeded", "written", "written"]);
  // What is there can be written over.
  expect(await put("n1")).toBe("written");
  await store.remove("full", "n2", counting());
  expect(await put("n2")).toBe("written");
});
