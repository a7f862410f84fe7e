/**
 * Every route of the API document that takes an id, tried by callers of other tenants with ids of a tenant that is not
 * theirs: what is foreign answers as what is unknown, byte for byte but for the request's id. A route that is added is
 * tried from then on. `SWEEP_TRIES=10000` has it tried so often; the seed of a failure is in its message (`SWEEP_SEED`).
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type NodeProcess, startNodeProcess } from "../../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../../harness/stores.ts";
import { isReference, type Operation, operationsOf, targetOf } from "./operations.ts";
import { randomness } from "./random.ts";
import { type Known, kindOf, marker, settle, settleByExamples, survey } from "./victim.ts";

const tries = Number(process.env.SWEEP_TRIES ?? 500);
const seed = Number(process.env.SWEEP_SEED ?? Math.floor(Math.random() * 2 ** 31));
const atOnce = 8;
const unconfigured = 501;

let stores: TestStores;
let node: NodeProcess;
let operations: readonly Operation[];
let known: Known;
let victims: readonly Readonly<Record<string, string>>[];
let attackers: readonly Attacker[];

interface Attacker {
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Whether admin routes show it every tenant, rightly. */
  readonly isOperator?: true;
}

beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "silent" } });
  const bearer = async (realm: string, fields: Readonly<Record<string, string>> = {}) => {
    return { Authorization: `Bearer ${await node.token(fields, realm)}` };
  };
  victims = [
    await bearer("tenant-zeta", { username: "bea", email: `${marker}@zeta.test` }),
    // Teams are of people with a plan.
    await bearer("svc-consumer", { username: "vic", tier: "business", email: `${marker}@vic.test` }),
  ];
  const owner = await bearer("tenant-acme", { username: "ann" });
  const readonly = { username: "readonly", grant_type: "password", password: "dev", client_id: "", client_secret: "" };
  attackers = [
    { name: "the owner of another tenant", headers: owner },
    {
      name: "the same, with the victim's slug in headers",
      headers: { ...owner, "X-Svc-Tenant": "zeta", "X-Tenant-Id": "zeta", "X-Svc-Team": "" },
    },
    { name: "a consumer", headers: await bearer("svc-consumer", { username: "cleo", tier: "enterprise" }) },
    { name: "a member", headers: await bearer("tenant-acme", { username: "mia", role: "tenant:member" }) },
    { name: "a service account at home", headers: await bearer("svc-system"), isOperator: true },
    {
      name: "an operator who only reads, with the header of admins",
      headers: { ...(await bearer("svc-system", readonly)), "X-Svc-Tenant": "zeta" },
      isOperator: true,
    },
  ];
  const { key } = (await node.call("POST", "/v1/api-keys", { name: "sweep" }, owner)).body;
  attackers = [
    ...attackers,
    { name: "an API key of the owner of another tenant", headers: { Authorization: `Bearer ${key}` } },
  ];
  // Each is known before: a tenant comes into being by its first write.
  for (const { headers } of attackers) await node.call("POST", "/v1/volumes", { label: "own" }, headers);
  operations = await operationsOf(node.url);
  const [company = {}] = victims;
  await settle(node, company);
  const surveys: Known[] = [];
  for (const headers of victims) {
    await settleByExamples(node, operations, headers);
    surveys.push(await survey(node, operations, headers));
  }
  known = together(surveys);
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

/** Where a request names a record. */
interface Place {
  readonly operation: Operation;
  /** The name of a parameter of the path, `?` and that of one of the query, or the way to a member of the body. */
  readonly at: string | readonly (string | number)[];
}

const refers = /(?:^|_)(?:id|ids|ref|agent|workflow|workflow_name|volume|execution|credential|secret|member)$/;

function* referencesIn(
  value: unknown,
  way: readonly (string | number)[] = [],
  key = "",
): Generator<readonly (string | number)[]> {
  if (typeof value === "string" && refers.test(key)) yield way;
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    const isList = Array.isArray(value);
    yield* referencesIn(part, [...way, isList ? Number(name) : name], isList ? key : name);
  }
}

function placesOf(operation: Operation): readonly Place[] {
  const { inPath, inQuery, example } = operation;
  // A record in the path is looked up before anything else is.
  if (inPath.some(isReference)) return inPath.filter(isReference).map(({ name }) => ({ operation, at: name }));
  const queries = inQuery.filter((one) => refers.test(one.name)).map(({ name }) => ({ operation, at: `?${name}` }));
  return [...queries, ...[...referencesIn(example)].map((at) => ({ operation, at }))];
}

/** Tells of an approval that is not there as of one that is decided, by 200. */
const alwaysThere = ["/v1/human-approvals/{id}"];

/** An id or name of the same form that no record has. */
function unknownLike(value: string, random: () => number): string {
  const isUuid = /^[0-9a-f]{8}-/.test(value);
  const digits = isUuid ? "0123456789abcdef" : "bcdfghjklmnpqrstvwxz";
  const from = isUuid ? value.length - 12 : 0;
  const changed = [...value.slice(from)].map((character) =>
    /[a-z0-9]/i.test(character) ? digits[Math.floor(random() * digits.length)] : character,
  );
  return value.slice(0, from) + changed.join("");
}

function bodyWith(example: unknown, way: readonly (string | number)[], value: string): unknown {
  const [step, ...rest] = way;
  if (step === undefined) return value;
  const copy: Record<string | number, unknown> = Array.isArray(example)
    ? ([...example] as never)
    : { ...(example as object) };
  copy[step] = bodyWith(copy[step], rest, value);
  return copy;
}

/** Of these two requests differ, or count down. */
const ownHeaders = /^(?:x-request-id|date|content-length|x-ratelimit-.*|ratelimit.*|retry-after)$/;

interface Seen {
  readonly status: number;
  readonly headers: string;
  readonly text: string;
}

async function ask(
  { operation, at }: Place,
  value: string,
  { headers }: Attacker,
  others: Readonly<Record<string, string>>,
): Promise<Seen> {
  const { method, example } = operation;
  const target = targetOf(operation, { ...others, ...(typeof at === "string" ? { [at]: value } : {}) });
  const body = typeof at === "string" ? example : bodyWith(example, at, value);
  const response = await fetch(node.url + target, {
    method,
    headers: { ...headers, ...(method === "GET" ? {} : { "Content-Type": "application/json" }) },
    ...(method === "GET" || body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const plain = (text: string) => text.replaceAll(encodeURIComponent(value), "<given>").replaceAll(value, "<given>");
  const text = plain(await response.text()).replace(/"request_id":"[^"]*"/, "");
  const kept = [...response.headers]
    .filter(([name]) => !ownHeaders.test(name))
    .map(([name, of]) => `${name}: ${plain(of)}`);
  return { status: response.status, headers: kept.sort().join("\n"), text };
}

/** What was made newly, or refused on record, has an id and a time of its own. */
const withoutOwn = ({ status, text, ...rest }: Seen): Seen => ({
  ...rest,
  status,
  text: text.replace(/[0-9a-f]{8}-[0-9a-f-]{27}|\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<own>"),
});

test("every route with an id in its path has a record that the victim sees there", async () => {
  const kinds = new Set(
    operations.filter(({ inPath, path }) => inPath.some(isReference) && !path.startsWith("/v1/admin/")).map(kindOf),
  );
  // What the installation has not configured has no records; foreign and unknown are one there as well.
  const asked = [...kinds].filter((kind) => !known.records.has(kind));
  const missing: string[] = [];
  for (const kind of asked) {
    const { status } = await node.call("GET", kind.slice(0, kind.lastIndexOf("/{")), undefined, victims[0]);
    if (status !== unconfigured) missing.push(kind);
  }
  expect(missing).toEqual([]);
  expect(known.ids.length).toBeGreaterThan(10);
});

function together(surveys: readonly Known[]): Known {
  const records = new Map<string, readonly string[]>();
  for (const [kind, ids] of surveys.flatMap((one) => [...one.records])) {
    records.set(kind, [...(records.get(kind) ?? []), ...ids]);
  }
  return { records, ids: surveys.flatMap(({ ids }) => ids), names: surveys.flatMap(({ names }) => names) };
}

/** Where looking leaves a trace, time passes, or what was counted a moment ago is told. */
const telling = /^\/v1\/(?:admin|audit|user|dashboard|observability\/dashboard)\b/;

/** What answers tell of themselves: who asked when, and how long that took. */
const ofTheAnswer = /"(?:request_id|duration_ms|generated_at|uptime_seconds)":[^,}]*|"(?:from|to)":"\d{4}-[^"]*Z"/g;

/** All lists of the victims, and all their records. */
async function holdings(): Promise<Readonly<Record<string, string>>> {
  const held: Record<string, string> = {};
  for (const [at, operation] of victims.flatMap((_, at) => operations.map((operation) => [at, operation] as const))) {
    const { method, path, inPath, isStream } = operation;
    if (method !== "GET" || isStream || telling.test(path)) continue;
    const [name = ""] = inPath.map((parameter) => parameter.name);
    for (const id of inPath.length === 0 ? [""] : (known.records.get(kindOf(operation)) ?? [])) {
      const target = targetOf(operation, { [name]: id });
      const response = await fetch(node.url + target, { headers: { ...victims[at] } });
      held[`${at} ${target}`] = `${response.status} ${(await response.text()).replace(ofTheAnswer, "")}`;
    }
  }
  return held;
}

test("another tenant's id answers as an unknown one, on every route that takes one", async () => {
  const random = randomness(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const places = operations.flatMap(placesOf);
  const faults: string[] = [];
  const before = await holdings();
  const pool = [...known.ids, ...known.names];
  /** Each place once by each caller before any is tried again. */
  const turns = Array.from({ length: Math.max(tries, places.length) }, (_, turn) => {
    const place = turn < places.length ? (places[turn] as Place) : pick(places);
    const attacker = pick(
      attackers.filter(({ isOperator }) => !isOperator || !place.operation.path.startsWith("/v1/admin/")),
    );
    const isRight = turn < places.length || random() < 0.7;
    const right =
      typeof place.at === "string" && place.operation.inPath[0]?.name === place.at
        ? known.records.get(kindOf(place.operation))
        : undefined;
    const foreign = isRight && right !== undefined ? pick(right) : pick(pool);
    const others = Object.fromEntries(place.operation.inPath.filter(isReference).map(({ name }) => [name, pick(pool)]));
    return { place, attacker, foreign, unknown: unknownLike(foreign, random), others };
  });
  const secrets = [marker, ...known.ids];
  async function attack({ place, attacker, foreign, unknown, others }: (typeof turns)[number]): Promise<void> {
    const theirs = await ask(place, foreign, attacker, others);
    const unknowns = await ask(place, unknown, attacker, others);
    const what = `${place.operation.method} ${place.operation.path} (${place.at}) with ${foreign}, by ${attacker.name}`;
    if (!Bun.deepEquals(withoutOwn(theirs), withoutOwn(unknowns))) {
      faults.push(`${what}: ${JSON.stringify(theirs)} but of an unknown one ${JSON.stringify(unknowns)}`);
    }
    const isPath = typeof place.at === "string" && !place.at.startsWith("?");
    if (isPath && theirs.status < 400 && !alwaysThere.includes(place.operation.path))
      faults.push(`${what}: it is ${theirs.status}`);
    if (theirs.status >= 500 && theirs.status !== unconfigured) faults.push(`${what}: ${theirs.status} ${theirs.text}`);
    const told = secrets.find(
      (secret) => secret !== foreign && !Object.values(others).includes(secret) && theirs.text.includes(secret),
    );
    if (told !== undefined) faults.push(`${what}: it tells ${told}: ${theirs.text.slice(0, 500)}`);
  }
  for (let first = 0; first < turns.length; first += atOnce)
    await Promise.all(turns.slice(first, first + atOnce).map(attack));
  expect([seed, faults.slice(0, 10)]).toEqual([seed, []]);
  // And the victims have what they had.
  expect(await holdings()).toEqual(before);
}, 600_000);
