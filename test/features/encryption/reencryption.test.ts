/** Reencryption after a rotation of the master key, over the table of sources. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { createEncryption } from "../../../src/features/encryption/encryption.ts";
import { masterKeyOf } from "../../../src/features/encryption/envelope.ts";
import type { EncryptedColumn } from "../../../src/features/encryption/port.ts";
import { reencryptRows, startReencryption } from "../../../src/features/encryption/reencryption.ts";
import { freshStores } from "../../harness/stores.ts";
import { until } from "../../harness/until.ts";

const stores = await freshStores();
const { sql } = stores;
afterAll(() => stores.dispose());

const [old, current] = [1, 2].map((fill) => masterKeyOf(Buffer.alloc(32, fill).toString("base64"))) as [Key, Key];
type Key = ReturnType<typeof masterKeyOf>;
let incidents = 0;
const report = {
  report: () => {
    incidents += 1;
  },
};
const before = createEncryption({ current: old, previous: null, incidents: report });
const rotating = createEncryption({ current, previous: old, incidents: report });
const after = createEncryption({ current, previous: null, incidents: report });

await sql`create table encrypted_things (id uuid primary key, tenant text not null, number int not null, secret text)`;
const column: EncryptedColumn = {
  table: "encrypted_things",
  column: "secret",
  version: ({ number }) => `secret/${number}`,
};
const contextOf = (id: string, number: number) => ({
  tenant: `t${number % 3}`,
  record: id,
  version: `secret/${number}`,
});

async function seed(count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, number) => {
    const id = Bun.randomUUIDv7();
    return { id, tenant: `t${number % 3}`, number, secret: before.encrypt(contextOf(id, number), `plain ${number}`) };
  });
  await sql`insert into encrypted_things ${sql(rows)}`;
}
const rows = () => sql<{ id: string; number: number; secret: string | null }[]>`select * from encrypted_things`;
beforeEach(async () => {
  await sql`truncate encrypted_things`;
  incidents = 0;
});

test("two nodes at once encrypt every text anew once, under the new key alone", async () => {
  await seed(230);
  await sql`insert into encrypted_things values (${Bun.randomUUIDv7()}, 't0', -1, null)`;
  const counts = await Promise.all([reencryptRows(sql, rotating, column), reencryptRows(sql, rotating, column)]);
  expect(counts.reduce((sum, { reencrypted }) => sum + reencrypted, 0)).toBe(230);
  for (const { id, number, secret } of await rows()) {
    if (secret !== null) expect(after.decrypt(contextOf(id, number), secret)).toBe(`plain ${number}`);
  }
  expect(await reencryptRows(sql, rotating, column)).toEqual({ reencrypted: 0, failed: 0 });
  expect(incidents).toBe(0);
});

test("a text that does not open stays and is reported; the others are reencrypted", async () => {
  await seed(102);
  const [bad] = await sql<{ id: string }[]>`
    update encrypted_things set tenant = 'elsewhere' where number = 0 returning id, secret`;
  expect(await reencryptRows(sql, rotating, column)).toEqual({ reencrypted: 101, failed: 1 });
  expect(incidents).toBe(1);
  const outdated = (await rows()).filter(({ secret }) => secret !== null && rotating.isOutdated(secret));
  expect(outdated.map(({ id }) => id)).toEqual([bad?.id ?? ""]);
});

test("a text that was replaced meanwhile stays what it became", async () => {
  await seed(1);
  const [row] = await rows();
  const anew = rotating.encrypt(contextOf(row?.id ?? "", 0), "newer");
  expect(await reencryptRows(sqlThatChanges(anew), rotating, column)).toEqual({ reencrypted: 0, failed: 0 });
  expect((await rows())[0]?.secret).toBe(anew);
});

/** The pool, but whatever is selected is changed before the answer comes. */
function sqlThatChanges(secret: string): typeof sql {
  return new Proxy(sql, {
    apply(target, self, [strings, ...values]: [TemplateStringsArray, ...unknown[]]) {
      const query = Reflect.apply(target, self, [strings, ...values]);
      if (!Array.isArray(strings) || !strings[0]?.includes("select")) return query;
      return query.then(async (found: unknown) => {
        await sql`update encrypted_things set secret = ${secret}`;
        return found;
      });
    },
  });
}

test("in the background, only while there is an earlier key", async () => {
  await seed(3);
  const told: unknown[] = [];
  const options = {
    sql,
    columns: [column],
    report: (event: string, facts: object) => void told.push({ event, ...facts }),
  };
  await startReencryption({ ...options, encryption: after })();
  expect(told).toEqual([]);
  const stop = startReencryption({ ...options, encryption: rotating });
  await until(() => told.length > 0, { what: "the round" });
  await stop();
  expect(told).toEqual([
    { event: "secrets_reencrypted", table: "encrypted_things", column: "secret", reencrypted: 3, failed: 0 },
  ]);
});
