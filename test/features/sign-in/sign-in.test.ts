/** Where people of which tenant sign in, and what strangers learn of it (docs/reference/sign-in.md). */
import { afterAll, expect, test } from "bun:test";
import { createDiscovery } from "../../../src/features/sign-in/discovery.ts";
import { createSignIn } from "../../../src/features/sign-in/service.ts";
import { readAuthSettings } from "../../../src/identity/settings.ts";
import { createSignInRealms } from "../../../src/identity/tokens/sign-in-realms.ts";

/** What providers were asked, and what they say. */
const asked: string[] = [];
const provider = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: ({ url }) => {
    const path = new URL(url).pathname;
    asked.push(path);
    if (path.startsWith("/away/")) return new Response("", { status: 500 });
    if (path.startsWith("/huge/")) return new Response("x".repeat(300_000));
    if (path.startsWith("/moved/")) return Response.redirect("/device/.well-known/openid-configuration");
    return Response.json(path.startsWith("/device/") ? { device_authorization_endpoint: "https://id.test/d" } : {});
  },
});
afterAll(() => provider.stop(true));
const at = (name: string) => `http://127.0.0.1:${provider.port}/${name}`;

const people = { slug: "people", kind: "consumer", issuer_url: at("plain"), audience: "svc" };
const staff = { slug: "staff", kind: "system", issuer_url: at("device"), audience: "svc" };
const acme = { slug: "tenant-acme", kind: "tenant", issuer_url: "https://id.acme.test", audience: "svc" };
const template = { slug: "tenant-{slug}", kind: "tenant", issuer_url: "https://id.test/{slug}", audience: "svc" };
const development = { issuerPrefix: "http://localhost:8080/realms/", audience: "svc-orchestrator" };
const embedded = {
  find: async (slug: string) =>
    ["svc-system", "tenant-globex"].includes(slug)
      ? {
          ...readAuthSettings({ realms: [staff] }, true).settings!.realms[0]!,
          slug,
          issuer_url: `https://svc.test/realms/${slug}`,
        }
      : null,
};

function signIn(auth: object, own: { development?: typeof development; embedded?: typeof embedded } = {}, time = 0) {
  const { settings, problems } = readAuthSettings(auth, true);
  if (settings === null) throw new Error(problems.join());
  let now = time;
  const realms = createSignInRealms({
    settings,
    development: own.development ?? null,
    embedded: own.embedded ?? null,
    tenantExists: async (slug) => ["acme", "globex"].includes(slug),
  });
  const service = createSignIn({
    clients: { console: "web", commandLine: "cli" },
    scopes: ["openid"],
    realms,
    discovery: createDiscovery(() => now),
    development: own.development === undefined ? null : { ...own.development, password: "dev", subjects: [] },
  });
  return { ...service, later: (ms: number) => (now += ms) };
}
const issuers = async (service: ReturnType<typeof signIn>, tenants: readonly (string | null)[]) =>
  Promise.all(tenants.map(async (tenant) => (await service.configOf(tenant)).issuer));

test("a tenant has its realm, operators theirs, all others that of consumers", async () => {
  const service = signIn({ realms: [staff, acme, people], tenant_realm_template: template });
  expect(await issuers(service, ["svc-system", "acme", "globex", null])).toEqual([
    at("device"),
    "https://id.acme.test",
    "https://id.test/globex",
    at("plain"),
  ]);
  const team = "t-0190f3c4-6d1e-7a55-9c1f-2f6d0c5b8e11";
  const none = await service.configOf(null);
  for (const tenant of ["unknown", "u-ada", team, "", "No Slug", "svc-consumer", "\0", "x".repeat(500)])
    expect(await service.configOf(tenant)).toEqual(none);
  expect(none).toEqual({
    issuer: at("plain"),
    client_id: "web",
    cli_client_id: "cli",
    scopes: ["openid"],
    device: false,
    password: false,
  });
});

test("without a realm of consumers the first one answers who names no tenant", async () => {
  expect(await issuers(signIn({ realms: [acme, staff] }), [null, "unknown"])).toEqual([
    "https://id.acme.test",
    "https://id.acme.test",
  ]);
  const own = signIn({ realms: [] }, { embedded });
  const system = "https://svc.test/realms/svc-system";
  expect(await issuers(own, [null, "unknown", "acme", "svc-system", "globex"])).toEqual([
    system,
    system,
    system,
    system,
    "https://svc.test/realms/tenant-globex",
  ]);
  expect((await own.configOf("globex")).device).toBe(true);
  await expect(signIn({ realms: [] }).configOf(null)).rejects.toThrow("No identity provider");
});

test("the development issuer names the people who sign in by one click", async () => {
  const service = signIn({ realms: [] }, { development });
  const { people: some, ...config } = await service.configOf(null);
  expect(config).toMatchObject({ issuer: `${development.issuerPrefix}svc-consumer`, password: true, device: false });
  expect(some?.map(({ username, issuer }) => [username, issuer.split("/").at(-1)])).toEqual([
    ["admin", "svc-system"],
    ["operator", "svc-system"],
    ["readonly", "svc-system"],
    ["ada", "svc-consumer"],
  ]);
  expect((await service.configOf("acme")).people?.[0]).toMatchObject({
    username: "owner",
    issuer: `${development.issuerPrefix}tenant-acme`,
    password: "dev",
  });
  expect((await service.configOf("unknown")).people).toEqual(some);
  // Another provider's realm beside it has people of its own.
  expect("people" in (await signIn({ realms: [people] }, { development }).configOf(null))).toBe(false);
});

test("a provider is asked once for its device flow, and left alone while it is away", async () => {
  const count = (name: string) => asked.filter((path) => path.startsWith(`/${name}/`)).length;
  const now = { value: 0 };
  const discovery = createDiscovery(() => now.value);
  const before = count("device");
  expect(await Promise.all(Array.from({ length: 20 }, () => discovery.offersDevice(at("device"))))).not.toContain(
    false,
  );
  expect(await discovery.offersDevice(`${at("device")}/`)).toBe(true);
  expect(count("device") - before).toBe(2);
  for (const name of ["away", "huge", "moved"]) {
    expect([name, await discovery.offersDevice(at(name))]).toEqual([name, false]);
    expect([name, await discovery.offersDevice(at(name))]).toEqual([name, false]);
    expect([name, count(name)]).toEqual([name, 1]);
  }
  now.value += 60_000;
  await discovery.offersDevice(at("away"));
  await discovery.offersDevice(at("device"));
  expect([count("away"), count("device") - before]).toEqual([2, 2]);
});
