/** The operators' program over a log that a running node writes, and that the database's owner tampers with. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { until } from "../harness/until.ts";
import { operatorProgram } from "./operator-program.ts";

let stores: TestStores;
let node: NodeProcess;
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "silent" } });
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

const audit = operatorProgram("audit", () => stores);

test("what a node writes is sealed and verified; a change from outside is named", async () => {
  const { sql } = stores;
  const headers = { Authorization: `Bearer ${await node.token({ username: "ann" }, "tenant-acme")}` };
  for (const label of ["a", "b", "c"]) {
    expect((await node.call("POST", "/v1/volumes", { label }, headers)).status).toBe(201);
  }
  const sealed = async () => (await sql`select 1 from audit_entries where sequence is null`).length === 0;
  await until(sealed, { what: "the seals" });

  const whole = await audit(["verify"]);
  expect(whole).toMatchObject({ err: "", code: 0 });
  expect(whole.out).toMatch(/^acme: whole, 4 entries since \S+, 0 to be sealed, head 4:[0-9a-f]{64}$/m);
  expect(whole.out).toMatch(/^\d chains, all of them whole$/m);
  const head = /head (4:[0-9a-f]{64})/.exec(whole.out)?.[1] ?? "";
  expect(await audit(["verify", "--tenant", "acme", "--head", head])).toMatchObject({ code: 0 });
  const other = await audit(["verify", "--tenant", "acme", "--head", `4:${"0".repeat(64)}`]);
  expect(other).toMatchObject({ code: 1, out: expect.stringContaining("  The chain was written anew") });

  await expect(sql`delete from audit_entries where tenant = 'acme'`.execute()).rejects.toThrow("go by age alone");
  await sql`alter table audit_entries disable trigger user`;
  await sql`update audit_entries set actor = '{}' where tenant = 'acme' and sequence = 2`;
  await sql`delete from audit_entries where tenant = 'acme' and sequence = 4`;
  await sql`alter table audit_entries enable trigger user`;
  const broken = await audit(["verify"]);
  expect(broken.code).toBe(1);
  expect(broken.out).toContain("acme: BROKEN, 3 entries");
  expect(broken.out).toMatch(/^ {2}Entry 2 \(\S+, volume\.created, \S+\) is not the one that was sealed$/m);
  expect(broken.out).toContain("  Entry 4 is missing\n");
  expect(broken.out).toMatch(/^\d chains, 1 broken$/m);
});

test("wrong usage and a missing schema are told, and --help says all of it", async () => {
  for (const args of [["erase"], ["verify", "--head", "1:ab"]]) {
    expect([args, (await audit(args)).code]).toEqual([args, 2]);
  }
  const { out, code } = await audit(["--help"]);
  expect(code).toBe(0);
  for (const word of ["verify", "--tenant <slug>", "--head <end>", "SVC_DATA_DIR"]) expect(out).toContain(word);
  const absent = await audit(["verify"], { SVC_DATABASE_SCHEMA: "not_set_up" });
  expect(absent).toMatchObject({ code: 1, err: expect.stringContaining("has set up the schema not_set_up") });
});
