/** Secrets of sources that stand among the tenant's secrets (docs/reference/stimuli.md). */
import { afterAll, beforeEach, expect, test } from "bun:test";
import type { Candidate } from "../../../../src/features/stimuli/sources/port.ts";
import { readSignatures, verifyInTurns } from "../../../../src/features/stimuli/sources/verification/verify.ts";
import { caller } from "../../../harness/callers.ts";
import { openFixture } from "./fixture.ts";

const fixture = await openFixture();
const { sources, values, asked, away } = fixture;
afterAll(() => fixture.dispose());
beforeEach(() => {
  asked.length = 0;
  away.is = false;
});

const reads = new Set(["stimulus:manage", "stimulus:read", "stimulus:list", "secret:read"]);
const manages = new Set(["stimulus:manage", "stimulus:read", "stimulus:list"]);
const call = (scopes: ReadonlySet<string>, method: string, path: string, body?: object) =>
  fixture.call(caller("acme", { scopes }), method, path, body);
const textsOf = (candidate: Candidate | null | undefined) =>
  candidate?.secrets.map((secret) => Buffer.from(secret).toString());
const secretsOf = async (source: string) => textsOf((await sources.candidates(source))[0]);

test("a changed secret holds within 5 s, and no delivery asks for it", async () => {
  values.set("acme secret:kept/ci#key", "first-value-of-ci");
  values.set("other secret:kept/ci#key", "value-of-another-tenant");
  const made = await call(reads, "POST", "", { source: "ci", secret: "secret://kept/ci#key" });
  expect([made.status, made.body.secret_source, made.text.includes("kept/ci")]).toEqual([201, "stored", false]);
  for (let delivery = 0; delivery < 500; delivery++) {
    if (delivery % 100 === 0) expect(await secretsOf("ci")).toEqual(["first-value-of-ci"]);
    await sources.candidates("ci");
  }
  expect([...new Set(asked)]).toEqual(["acme secret:kept/ci#key"]);
  expect(asked.length).toBeLessThan(10);
  values.set("acme secret:kept/ci#key", "second-value-of-ci");
  fixture.advance(5000);
  expect(await secretsOf("ci")).toEqual(["second-value-of-ci"]);
  expect(textsOf(await sources.candidate("ci", made.body.id))).toEqual(["second-value-of-ci"]);
  const [row] = await fixture.sql<{ all: string }[]>`select s::text as all from stimulus_sources s`;
  expect(row?.all).not.toContain("kept/ci");
  const [created] = await fixture.audited("acme");
  expect(created?.details).toMatchObject({ has_secret: true, secret_reference: "secret:kept/ci#key" });
});

test("who lacks secret:read neither sets a reference nor changes such a source", async () => {
  const refused = { status: 422, code: "secret_forbidden", path: "secret" };
  const told = ({ status, body }: Awaited<ReturnType<typeof call>>) => ({
    ...{ status, code: body.code },
    path: body.issues?.[0]?.path,
  });
  const reference = { secret: "secret:a" };
  expect(told(await call(manages, "POST", "", { source: "mine", ...reference }))).toEqual(refused);
  const { body: plain } = await call(manages, "POST", "", { source: "mine", secret: "sixteen-characters" });
  expect(told(await call(manages, "PATCH", `/${plain.id}`, reference))).toEqual(refused);
  expect(told(await call(manages, "POST", `/${plain.id}/rotate-secret`, reference))).toEqual(refused);
  expect((await call(reads, "POST", `/${plain.id}/rotate-secret`, reference)).status).toBe(200);
  expect(told(await call(manages, "PATCH", `/${plain.id}`, { enabled: false }))).toEqual(refused);
  expect(told(await call(manages, "PUT", `/${plain.id}`, {}))).toEqual(refused);
  expect((await call(manages, "PATCH", `/${plain.id}`, { secret: "another-of-sixteen" })).status).toBe(200);
  expect((await call(manages, "PATCH", `/${plain.id}`, { enabled: false })).status).toBe(200);
});

test("a rotation to a reference keeps the secret before for its time", async () => {
  values.set("acme secret:rotated", "value-after-the-rotation");
  const { body } = await call(reads, "POST", "", { source: "rotates", secret: "before-the-rotation" });
  const rotated = await call(reads, "POST", `/${body.id}/rotate-secret`, { secret: "secret:rotated" });
  expect([rotated.status, rotated.body.secret]).toEqual([200, undefined]);
  expect(await secretsOf("rotates")).toEqual(["value-after-the-rotation", "before-the-rotation"]);
});

test("a secret that is missing, short, or none of the preset's verifies nothing", async () => {
  await call(reads, "POST", "", { source: "odd", secret: "secret:odd" });
  for (const value of [undefined, "", "fifteen-letters"]) {
    if (value !== undefined) values.set("acme secret:odd", value);
    fixture.advance(5000);
    expect(await sources.candidates("odd")).toMatchObject([{ secrets: [] }]);
  }
  values.set("acme secret:odd", "no base64, surely, but long enough");
  const { status } = await call(reads, "POST", "", {
    ...{ source: "base64", secret: "secret:odd", signature: "standard_webhooks" },
  });
  expect([status, await secretsOf("base64")]).toEqual([201, []]);
});

test("a store that is away is the fault of the source alone, and ends when it is back", async () => {
  values.set("acme secret:away", "value-of-a-store-away");
  await call(reads, "POST", "", { source: "shared", secret: "secret:away" });
  const other = caller("zulu", { scopes: manages });
  expect((await fixture.call(other, "POST", "", { source: "shared", secret: "secret-of-another" })).status).toBe(201);
  away.is = true;
  const candidates = await sources.candidates("shared");
  expect(candidates.map((one) => [one.tenant, textsOf(one), one.fault?.code])).toEqual([
    ["acme", [], "secrets_unavailable"],
    ["zulu", ["secret-of-another"], undefined],
  ]);
  // What no other secret signed may be signed with the secret that is away: that is no wrong signature.
  const signedBy = (key: string) => {
    const digest = new Bun.CryptoHasher("sha256", key).update("{}").digest("hex");
    const read = readSignatures(candidates, new Headers({ "x-svc-signature": `sha256=${digest}` }));
    return verifyInTurns(read, Buffer.from("{}"), Date.now());
  };
  expect((await signedBy("secret-of-another")).candidate.tenant).toBe("zulu");
  await expect(signedBy("value-of-a-store-away")).rejects.toMatchObject({ code: "secrets_unavailable" });
  away.is = false;
  fixture.advance(5000);
  expect(await secretsOf("shared")).toEqual(["value-of-a-store-away"]);
});

test("what is no good reference is refused, and nothing else is changed", async () => {
  for (const secret of ["secret:../up-and-away", "secret:", "credential:github-of-mine", `secret:${"x".repeat(900)}`]) {
    const { status, body } = await call(reads, "POST", "", { source: "bad", secret });
    expect([secret.slice(0, 30), status, body.code]).toEqual([secret.slice(0, 30), 422, "validation_failed"]);
  }
});
