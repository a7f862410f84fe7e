/** Sealing anew after a rotation, over the table of source routes. */
import { afterAll, beforeEach, expect, test } from "bun:test";
import { masterKeyOf } from "../../../src/features/encryption/envelope.ts";
import { rewrapRows, type SealedColumn, startRewrapping } from "../../../src/features/encryption/rewrap.ts";
import { createSealer } from "../../../src/features/encryption/sealer.ts";
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
const before = createSealer({ current: old, previous: null, incidents: report });
const rotating = createSealer({ current, previous: old, incidents: report });
const after = createSealer({ current, previous: null, incidents: report });

await sql`create table sealed_things (id uuid primary key, tenant text not null, number int not null, secret text)`;
const column: SealedColumn = { table: "sealed_things", column: "secret", version: ({ number }) => `secret/${number}` };
const placeOf = (id: string, number: number) => ({ tenant: `t${number % 3}`, record: id, version: `secret/${number}` });

async function seed(count: number): Promise<void> {
  const rows = Array.from({ length: count }, (_, number) => {
    const id = Bun.randomUUIDv7();
    return { id, tenant: `t${number % 3}`, number, secret: before.seal(placeOf(id, number), `plain ${number}`) };
  });
  await sql`insert into sealed_things ${sql(rows)}`;
}
const rows = () => sql<{ id: string; number: number; secret: string | null }[]>`select * from sealed_things`;
beforeEach(async () => {
  await sql`truncate sealed_things`;
  incidents = 0;
});

test("two nodes at once encrypt every text anew once, under the new key alone", async () => {
  await seed(230);
  await sql`insert into sealed_things values (${Bun.randomUUIDv7()}, 't0', -1, null)`;
  const counts = await Promise.all([rewrapRows(sql, rotating, column), rewrapRows(sql, rotating, column)]);
  expect(counts.reduce((sum, { rewrapped }) => sum + rewrapped, 0)).toBe(230);
  for (const { id, number, secret } of await rows()) {
    if (secret !== null) expect(after.open(placeOf(id, number), secret)).toBe(`plain ${number}`);
  }
  expect(await rewrapRows(sql, rotating, column)).toEqual({ rewrapped: 0, failed: 0 });
  expect(incidents).toBe(0);
});

test("a text that does not open stays and is reported; the others are rewrapped", async () => {
  await seed(102);
  const [bad] = await sql<{ id: string }[]>`
    update sealed_things set tenant = 'elsewhere' where number = 0 returning id, secret`;
  expect(await rewrapRows(sql, rotating, column)).toEqual({ rewrapped: 101, failed: 1 });
  expect(incidents).toBe(1);
  const outdated = (await rows()).filter(({ secret }) => secret !== null && rotating.isOutdated(secret));
  expect(outdated.map(({ id }) => id)).toEqual([bad?.id ?? ""]);
});

test("a text that was replaced meanwhile stays what it became", async () => {
  await seed(1);
  const [row] = await rows();
  const anew = rotating.seal(placeOf(row?.id ?? "", 0), "newer");
  expect(await rewrapRows(sqlThatChanges(anew), rotating, column)).toEqual({ rewrapped: 0, failed: 0 });
  expect((await rows())[0]?.secret).toBe(anew);
});

/** The pool, but whatever is selected is changed before the answer comes. */
function sqlThatChanges(secret: string): typeof sql {
  return new Proxy(sql, {
    apply(target, self, [strings, ...values]: [TemplateStringsArray, ...unknown[]]) {
      const query = Reflect.apply(target, self, [strings, ...values]);
      if (!Array.isArray(strings) || !strings[0]?.includes("select")) return query;
      return query.then(async (found: unknown) => {
        await sql`update sealed_things set secret = ${secret}`;
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
  await startRewrapping({ ...options, sealer: after })();
  expect(told).toEqual([]);
  const stop = startRewrapping({ ...options, sealer: rotating });
  await until(() => told.length > 0, { what: "the round" });
  await stop();
  expect(told).toEqual([
    { event: "secrets_sealed_anew", table: "sealed_things", column: "secret", rewrapped: 3, failed: 0 },
  ]);
});
