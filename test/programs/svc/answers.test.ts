/** What the command line makes of answers, and to whom it signs in; a stub answers in place of the service. */
import { afterAll, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { scratch } from "../../harness/scratch.ts";
import { type SvcOptions, svc } from "./harness.ts";

const hostile = "one\u001b]0;title\u0007\r\ntwo\u202e\u009b2J\n";
const binary = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 255]);
const id = "0190a1b2-0000-7000-8000-000000000001";
const caller = { scopes: ["agent:list"], kind: "consumer" };
const row = { id, name: "speaker", version: "1.0.0", labels: { Team: "one" }, paused_at: null };
const refused = { error: "not started", code: "workflow_error", cause_code: "invalid_input", cause: { path: "n" } };

const answers: Readonly<Record<string, () => Response>> = {
  "/v1/auth/me": () => Response.json(caller),
  "/v1/agents": () => Response.json({ items: [row, { ...row, extra: 1 }], next_cursor: null }),
  "/v1/workflows": () => Response.json({ items: [], next_cursor: null }),
  "/v1/stimuli": () => Response.json(refused, { status: 500 }),
  [`/v1/executions/${id}/files/text`]: () => new Response(hostile),
  [`/v1/executions/${id}/files/binary`]: () => new Response(binary),
  "/text": () => new Response(hostile, { headers: { "Content-Type": "text/plain" } }),
  "/binary": () => new Response(binary, { headers: { "Content-Type": "image/png" } }),
};
const none = () => Response.json({ error: "none", code: "not_found" }, { status: 404 });
const service = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => (answers[new URL(request.url).pathname] ?? none)(),
});
const other = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: () => Response.json({ hello: "there" }) });
afterAll(async () => {
  await service.stop(true);
  await other.stop(true);
});

const url = `http://127.0.0.1:${service.port}`;
/** Of this machine, and yet no address that counts as such. */
const plain = `http://0.0.0.0:${service.port}`;
const directory = scratch("svc-answers");
const says = (words: readonly string[], options: SvcOptions = {}) =>
  svc(words, {
    directory,
    ...options,
    env: { SVC_API_URL: url, SVC_USER_TOKEN: "key", XDG_CONFIG_HOME: directory, ...options.env },
  });
/** Contexts of a person of its own. */
const person = () => {
  const env = { XDG_CONFIG_HOME: scratch("svc-person"), SVC_API_URL: "", SVC_USER_TOKEN: "" };
  const contexts = () => parse(readFileSync(join(env.XDG_CONFIG_HOME, "svc/config.yaml"), "utf8")).contexts;
  return { contexts, runs: (words: readonly string[], more = {}) => says(words, { env: { ...env, ...more } }) };
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/;

test.each([
  { name: "files get", words: ["executions", "files", "get", id], at: "" },
  { name: "api", words: ["api", "GET"], at: "/" },
])("bytes of $name steer no terminal; a pipe and a file get them as they are", async ({ words, at }) => {
  const of = (name: string) => [...words, at + name];
  const shown = await says(of("text"), { columns: 80 });
  expect([shown.code, shown.out.startsWith("one\ntwo"), steering.test(shown.out)]).toEqual([0, true, false]);
  expect((await says(of("text"))).out).toBe(hostile);
  const no = await says(of("binary"), { columns: 80 });
  expect([no.code, no.out, no.err.includes("-o FILE")]).toEqual([2, "", true]);
  expect((await says([...of("binary"), "-o", "-"], { columns: 80 })).code).toBe(2);
  expect((await says(of("binary"))).code).toBe(0);
  const file = join(directory, `${words[0]}.bin`);
  expect((await says([...of("binary"), "-o", file], { columns: 80 })).code).toBe(0);
  expect([...readFileSync(file)]).toEqual([...binary]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
});

test("a refusal tells its cause, to people and to programs", async () => {
  const words = ["stimuli", "send", "orders", "{}"];
  const { err } = await says(words);
  expect(err).toContain("cause_code: invalid_input");
  expect(err).toContain('cause: {"path":"n"}');
  expect(JSON.parse((await says([...words, "--json"])).err).error).toMatchObject({ cause_code: "invalid_input" });
});

test("a column that no record has is refused with the names that there are", async () => {
  const columns = (list: string, names: string) => says([list, "list", "--columns", names]);
  const no = await columns("agents", "name,nope");
  expect([no.code, no.out]).toEqual([2, ""]);
  for (const part of ["nope", "version", "paused_at"]) expect(no.err).toContain(part);
  expect((await columns("agents", "labels.nope")).code).toBe(2);
  // Null is a value; what one record has, the list has.
  expect((await columns("agents", "NAME,paused_at,extra,labels.Team")).code).toBe(0);
  expect((await columns("workflows", "nope")).code).toBe(0);
});

test.each(["whoami", "token", "agents list", "edge tag add x y"])(
  "%s with nothing listening ends with 5",
  async (line) => {
    const { code, err } = await says([...line.split(" "), "--url", "http://127.0.0.1:1"], {
      env: { SVC_USER_TOKEN: "" },
    });
    expect([code, err]).toEqual([5, expect.stringContaining("nothing listens there")]);
  },
);

test("signing in where nothing listens ends with 5", async () => {
  for (const more of [["--as", "alice"], ["--api-key", "x"], []])
    expect((await person().runs(["login", "http://127.0.0.1:1", ...more])).code).toBe(5);
});

test.each(["whoami", "agents list", "agents get x", "workflows list", "login", "login --api-key x"])(
  "%s at another program than svc says so",
  async (line) => {
    const at = `http://127.0.0.1:${other.port}`;
    const { code, err } = await person().runs([...line.split(" "), "--url", at], { SVC_USER_TOKEN: "key" });
    expect([code, err]).toEqual([1, expect.stringContaining(`The service at ${at} gave an answer that is not svc's`)]);
  },
);

test("plain http is allowed to its origin alone, also after signing in again", async () => {
  const { runs, contexts } = person();
  const login = (...words: string[]) => runs(["login", ...words, "--api-key", "key"]);
  expect((await login(plain)).code).toBe(2);
  expect((await login(plain, "--context", "lab", "--allow-plaintext")).code).toBe(0);
  for (const elsewhere of ["http://svc.invalid", "http://0.0.0.0:1"]) {
    const no = await login(elsewhere);
    expect([no.code, no.err]).toEqual([2, expect.stringContaining("--allow-plaintext")]);
    expect((await runs(["context", "set", "lab", "--url", elsewhere])).code).toBe(2);
  }
  expect((await login(plain)).code).toBe(0);
  expect(contexts().lab).toEqual({ url: plain, allow_plaintext: true });
  expect((await runs(["whoami"])).code).toBe(0);
});

test("the tenant of a sign-in: --tenant, then SVC_TENANT, then that of the context", async () => {
  const { runs, contexts } = person();
  const tenant = async (words: readonly string[], env = {}) => {
    expect((await runs(["login", url, "--api-key", "key", "--context", "a", ...words], env)).code).toBe(0);
    return contexts().a.tenant;
  };
  expect(await tenant([], { SVC_TENANT: "acme" })).toBe("acme");
  expect(await tenant([])).toBe("acme");
  expect(await tenant(["--tenant", "umbra"], { SVC_TENANT: "other" })).toBe("umbra");
  expect(await tenant([], { SVC_TENANT: "acme" })).toBe("acme");
  // Another context is current: the one that is signed in to again keeps what it has.
  await runs(["login", url, "--api-key", "key", "--context", "b", "--tenant", "second"]);
  expect(await tenant([])).toBe("acme");
});

test("verbs of hosts print YAML as the others do", async () => {
  const gone = join(directory, "gone");
  expect((await says(["edge", "status", "--yaml", "--state-dir", gone])).code).toBe(4);
  const left = await says(["edge", "logout", "--yaml", "--force", "--state-dir", gone]);
  expect([left.code, parse(left.out)]).toEqual([0, { node_id: null, state_dir: gone, wiped: false }]);
  const usual = await says(["edge", "logout", "--force", "--state-dir", gone], { env: { SVC_OUTPUT: "yaml" } });
  expect(usual.out).toBe(left.out);
});
