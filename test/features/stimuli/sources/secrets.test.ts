/** Secrets of sources outlive a rotation of the master key. */
import { afterAll, expect, test } from "bun:test";
import { createEncryption } from "../../../../src/features/encryption/encryption.ts";
import { masterKeyOf } from "../../../../src/features/encryption/envelope.ts";
import { reencryptRows } from "../../../../src/features/encryption/reencryption.ts";
import { sourceRecords } from "../../../../src/features/stimuli/sources/records.ts";
import {
  decryptedPrevious,
  decryptedSecret,
  encryptedColumns,
} from "../../../../src/features/stimuli/sources/verification/secrets.ts";
import { caller } from "../../../harness/callers.ts";
import { openFixture } from "./fixture.ts";

const fixture = await openFixture({ SVC_WEBHOOK_SECRET_ACME__ENV: "of-the-environment" });
afterAll(() => fixture.dispose());

test("all of them open under the new key alone", async () => {
  const call = (method: string, path: string, body?: object) => fixture.call(caller("acme"), method, path, body);
  const create = async (fields: object): Promise<string> => (await call("POST", "", fields)).body.id;
  const rotate = (id: string, secret: string) => call("POST", `/${id}/rotate-secret`, { secret });
  const stored = await create({ source: "stored", secret: "first-secret-1111" });
  await rotate(stored, "second-secret-222");
  const environment = await create({ source: "env" });
  await rotate(environment, "third-secret-3333");
  const set = await create({ source: "set", secret: "fourth-secret-444" });
  await call("PATCH", `/${set}`, { secret: "fifth-secret-5555" });

  const [old, fresh] = [1, 2].map((fill) => masterKeyOf(Buffer.alloc(32, fill).toString("base64")));
  if (old === undefined || fresh === undefined) throw new Error("unreachable");
  const incidents = { report: () => {} };
  const rotating = createEncryption({ current: fresh, previous: old, incidents });
  for (const column of encryptedColumns) expect((await reencryptRows(fixture.sql, rotating, column)).failed).toBe(0);

  const alone = createEncryption({ current: fresh, previous: null, incidents });
  const opened = async (id: string) => {
    const row = await sourceRecords(fixture.sql).find("acme", id);
    return row === null ? null : [decryptedSecret(alone, row), decryptedPrevious(alone, row, fixture.now())];
  };
  expect(await opened(stored)).toEqual(["second-secret-222", "first-secret-1111"]);
  expect(await opened(environment)).toEqual(["third-secret-3333", "of-the-environment"]);
  expect(await opened(set)).toEqual(["fifth-secret-5555", null]);
});
