/** Which failures of a commit are blamed on its messages. */
import { expect, test } from "bun:test";
import type { Projection } from "../../../../src/runtime/index.ts";
import { isConnectionDeath, isOwnFault, Unstorable } from "../../../../src/runtime/lane/containment/blame.ts";
import { until } from "../../../harness/until.ts";
import { at, Harness, stateOf } from "../../harness.ts";

const harness = new Harness();

const withCode = (code: string, error: Error = new Error(code)) => Object.assign(error, { code });

test.each<[what: string, error: unknown, isOwn: boolean]>([
  ["characters that cannot be stored", withCode("22021"), true],
  ["a constraint", withCode("23505"), true],
  ["a row that is too large for an index", withCode("54000"), true],
  ["a parameter without a value", new TypeError("a parameter has no value"), true],
  ["a text that is too long", new RangeError("Out of memory"), true],
  ["a projection that throws", new Unstorable("what it threw"), true],
  ["a name that is not resolved", withCode("ENOTFOUND"), false],
  ["a certificate", withCode("DEPTH_ZERO_SELF_SIGNED_CERT"), false],
  ["a host name that does not fit its certificate", withCode("ERR_TLS_CERT_ALTNAME_INVALID"), false],
  ["an argument that Bun refuses", withCode("ERR_INVALID_ARG_TYPE", new TypeError("tls")), false],
  ["a table that is not there yet", withCode("42P01"), false],
  ["a missing right", withCode("42501"), false],
  ["a wrong password", withCode("28P01"), false],
  ["a full disk", withCode("53100"), false],
  ["a server that only reads", withCode("25006"), false],
  ["a statement that was cancelled", withCode("57014"), false],
  ["an error without a code", new Error("what may it be"), false],
  ["no error at all", "text", false],
])("%s", (_what, error, isOwn) => {
  expect(isOwnFault(error)).toBe(isOwn);
});

test("only a connection that dies without a word may have died of its statement", () => {
  expect(["CONNECTION_CLOSED", "ECONNRESET", "EPIPE"].every((code) => isConnectionDeath(withCode(code)))).toBe(true);
  expect(["57P01", "57P02", "ECONNREFUSED", "CONNECT_TIMEOUT"].some((code) => isConnectionDeath(withCode(code)))).toBe(
    false,
  );
});

const mirror: Projection = {
  kind: "counter",
  project: (changes) =>
    changes.map(({ key }) => ({ text: "insert into mirrored (key) values ($1)", parameters: [key] })),
};

test("messages wait for a migration that is missing", async () => {
  let failures = 0;
  const { runtime } = await harness.node({
    projections: [mirror],
    partitions: 1,
    log: (event) => {
      if (event === "commit_failed") failures++;
    },
  });
  await runtime.tell(at("a"), "add", { label: "early" });
  await until(() => failures >= 3, { what: "some attempts" });
  expect(await runtime.deadLetters.list({})).toEqual([]);
  await harness.stores.sql`create table mirrored (key text not null)`;
  await until(async () => (await stateOf(runtime, "a"))?.seen.join() === "early", { what: "the message to be taken" });
  expect(await runtime.deadLetters.list({})).toEqual([]);
});

test("a message that cannot be stored is found among hundreds in a few steps", async () => {
  let failures = 0;
  const { runtime } = await harness.node({
    partitions: 1,
    log: (event) => {
      if (event === "commit_failed") failures++;
    },
  });
  await Promise.all(Array.from({ length: 20 }, (_, index) => runtime.ask(at(`cached-${index}`), "get", {})));
  const sent = Array.from({ length: 400 }, (_, index) =>
    runtime.tell(
      at(`key-${index % 40}`),
      index === 233 ? "unstorable" : "add",
      index === 233 ? {} : { label: `${index}` },
    ),
  );
  const commits = runtime.counts().commits;
  await Promise.all(sent);
  await until(() => runtime.counts().deadLetters === 1, { what: "the dead letter" });
  await until(async () => (await stateOf(runtime, "key-39"))?.seen.length === 10, { what: "the last message" });
  expect(failures).toBeLessThanOrEqual(11);
  expect(runtime.counts().commits - commits).toBeLessThan(100);
  const seen = (await Promise.all(Array.from({ length: 40 }, (_, key) => stateOf(runtime, `key-${key}`)))).flatMap(
    (state) => state?.seen.map(Number) ?? [],
  );
  expect(seen.sort((a, b) => a - b)).toEqual(
    Array.from({ length: 400 }, (_, index) => index).filter((one) => one !== 233),
  );
  expect(runtime.counts().cachedActors).toBeGreaterThanOrEqual(20);
});

test("a message for a new actor that another attempt has made is taken all the same", async () => {
  const first = await harness.node({ partitions: 1 });
  await first.runtime.ask(at("a"), "note", { text: "the other attempt" }, { fresh: true });
  await harness.stop(first);
  const { runtime } = await harness.node({ partitions: 1 });
  const asked = ["a", "b", "c"].map((key) => runtime.ask(at(key), "note", { text: "this one" }, { fresh: true }));
  expect(await Promise.all(asked)).toEqual([2, 1, 1]);
  expect(await runtime.deadLetters.list({})).toEqual([]);
});

test("a new actor without any log is not written over one that is stored", async () => {
  const first = await harness.node({ partitions: 1 });
  for (const label of ["one", "two"]) await first.runtime.ask(at("a"), "add", { label });
  await harness.stop(first);
  const { runtime } = await harness.node({ partitions: 1 });
  const asked = ["a", "a", "a", "b"].map((key, n) => runtime.ask(at(key), "add", { label: `${n}` }, { fresh: true }));
  expect(await Promise.all(asked)).toEqual([3, 4, 5, 1]);
  expect((await stateOf(runtime, "a"))?.seen).toEqual(["one", "two", "0", "1", "2"]);
  expect(await runtime.deadLetters.list({})).toEqual([]);
});
