/**
 * Values that no client sends by mistake, in every parameter, header and member of a body of every route: each gets an
 * answer that the route declares (which the node checks), and none a 5xx. `HOSTILE_TRIES=100000` tries all of them;
 * `HOSTILE_SEED` those of a failure.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type NodeProcess, startNodeProcess } from "../harness/node/node-process.ts";
import { freshStores, type TestStores } from "../harness/stores.ts";
import { type Operation, operationsOf, targetOf } from "./sweep/operations.ts";
import { randomness } from "./sweep/random.ts";

const tries = Number(process.env.HOSTILE_TRIES ?? 800);
const seed = Number(process.env.HOSTILE_SEED ?? Math.floor(Math.random() * 2 ** 31));
const atOnce = 8;

let stores: TestStores;
let node: NodeProcess;
let operations: readonly Operation[];
beforeAll(async () => {
  stores = await freshStores();
  node = await startNodeProcess(stores, { env: { SVC_LOG_LEVEL: "error" } });
  operations = await operationsOf(node.url);
});
afterAll(async () => {
  await node?.dispose();
  await stores?.dispose();
});

const long = "x".repeat(20_000);
/** As they stand in a URL. */
const inUrls = [
  "%00",
  "%ED%A0%80",
  "%",
  "%FF",
  "..%2F..%2Fetc%2Fpasswd",
  "%20",
  "'%20or%201=1--",
  "%F0%9F%92%A9",
  "a%0D%0Ab",
  "-1",
  "1e400",
  "9".repeat(400),
  "null",
  "[]",
  "{}",
  "__proto__",
  long,
  "00000000-0000-0000-0000-000000000000",
  "svc-system",
  "*",
];
const inHeaders = [
  "",
  " ",
  "é",
  "a,b",
  "x".repeat(5_000),
  "../..",
  "u-",
  "t-",
  "svc-system",
  "-a",
  "{}",
  "00000000-0000-0000-0000-000000000000",
];
const inBodies: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  9_007_199_254_740_992,
  "",
  " ",
  "\0",
  "\ud800",
  "x".repeat(1_000_000),
  "💩".repeat(300),
  [],
  {},
  [[[[[]]]]],
  { __proto__: null, constructor: 1 },
  "__proto__",
  "../../etc/passwd",
  "svc-system",
  "http://169.254.169.254/",
  "secret:",
  "secret:a/../b",
  "credential:",
  "{{input",
  "00000000-0000-0000-0000-000000000000",
  "9999-12-31T23:59:59Z",
  "0000-00-00",
];
const wholeBodies = [
  "",
  "null",
  "[]",
  "1",
  '"x"',
  "{",
  '{"a":1}{',
  "\u0000",
  `${"[".repeat(5_000)}${"]".repeat(5_000)}`,
  '{"__proto__":{"a":1}}',
  `{"${"k".repeat(100_000)}":1}`,
];
const headerNames = [
  "Idempotency-Key",
  "X-Svc-Tenant",
  "X-Tenant-Id",
  "X-Svc-Team",
  "If-Match",
  "If-None-Match",
  "Range",
  "Prefer",
  "Last-Event-ID",
  "X-Request-Id",
  "Content-Type",
  "Accept",
  "X-Forwarded-For",
];

interface Try {
  readonly what: string;
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
}

/** The way to every member of a value, and to the value itself. */
function* membersOf(value: unknown, way: readonly (string | number)[] = []): Generator<readonly (string | number)[]> {
  yield way;
  if (typeof value !== "object" || value === null) return;
  for (const [name, part] of Object.entries(value))
    yield* membersOf(part, [...way, Array.isArray(value) ? Number(name) : name]);
}

function replaced(value: unknown, way: readonly (string | number)[], by: unknown): unknown {
  const [step, ...rest] = way;
  if (step === undefined) return by;
  const copy = structuredClone(value) as Record<string | number, unknown>;
  copy[step] = replaced(copy[step], rest, by);
  return copy;
}

function* triesOf(operation: Operation): Generator<Try> {
  const { method, path, inPath, inQuery, example } = operation;
  const usual = targetOf(operation, {});
  const isRead = method === "GET" || method === "DELETE";
  const body = isRead || example === undefined ? undefined : JSON.stringify(example);
  const type = { "Content-Type": "application/json" };
  const named = `${method} ${path}`;
  for (const value of inUrls) {
    for (const { name } of inPath) {
      const target = usual.replace(
        targetOf({ ...operation, inQuery: [] }, {}),
        path.replaceAll(/\{(\w+)\}/g, (_, one) => (one === name ? value : "report.txt")),
      );
      yield { what: `${named} path ${name}`, method, target, headers: type, body };
    }
    for (const { name } of inQuery) {
      const target = `${usual}${usual.includes("?") ? "&" : "?"}${name}=${value}`;
      yield { what: `${named} query ${name}`, method, target, headers: type, body };
    }
  }
  for (const name of headerNames) {
    for (const value of inHeaders)
      yield { what: `${named} header ${name}`, method, target: usual, headers: { ...type, [name]: value }, body };
  }
  if (isRead) return;
  for (const text of wholeBodies) yield { what: `${named} body`, method, target: usual, headers: type, body: text };
  for (const way of example === undefined ? [] : membersOf(example)) {
    for (const value of inBodies) {
      const text = JSON.stringify(replaced(example, way, value));
      yield { what: `${named} member ${way.join(".")}`, method, target: usual, headers: type, body: text };
    }
  }
}

test("hostile values get an answer that the route declares, and no 5xx", async () => {
  const owner = { Authorization: `Bearer ${await node.token({ username: "ann" }, "tenant-acme")}` };
  const admin = {
    Authorization: `Bearer ${await node.token({ username: "admin", grant_type: "password", password: "dev", client_id: "", client_secret: "" })}`,
  };
  await node.call("POST", "/v1/volumes", { label: "own" }, owner);
  const random = randomness(seed);
  const all = operations.flatMap((operation) => [...triesOf(operation)]);
  // As many of each route.
  const chosen =
    tries >= all.length
      ? all
      : Array.from({ length: tries }, (_, turn) => {
          const own = [...triesOf(operations[turn % operations.length] as Operation)];
          return own[Math.floor(random() * own.length)] as Try;
        });
  const faults: string[] = [];
  async function attack({ what, method, target, headers, body }: Try): Promise<void> {
    const as = target.startsWith("/v1/admin/") ? admin : owner;
    const response = await fetch(node.url + target, {
      method,
      headers: { ...as, ...headers },
      ...(body === undefined ? {} : { body }),
    });
    if (response.headers.get("content-type")?.startsWith("text/event-stream")) return response.body?.cancel();
    const text = await response.text();
    // Without a store, a provider or a model a route may say so.
    const isDecided = response.status < 500 || response.status === 501;
    if (!isDecided)
      faults.push(
        `${what}: ${response.status} ${text.slice(0, 300)} after ${target.slice(0, 200)} ${JSON.stringify(headers).slice(0, 200)} ${body?.slice(0, 300)}`,
      );
  }
  for (let first = 0; first < chosen.length; first += atOnce)
    await Promise.all(chosen.slice(first, first + atOnce).map(attack));
  expect([seed, faults.slice(0, 10)]).toEqual([seed, []]);
}, 1_200_000);
