/** Images that were pulled with credentials: whose they are, on a host that all tenants share. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { repositoryOf } from "../../../../actors/manifest/images/image.ts";
import type { ImageNames } from "../../../../src/adapters/sandbox/docker/engine.ts";
import { Images } from "../../../../src/adapters/sandbox/docker/images/images.ts";
import { PrivateImages } from "../../../../src/adapters/sandbox/docker/images/private-images.ts";
import { EngineError, type RegistryLogin } from "../../../../src/adapters/sandbox/port.ts";
import { Secret } from "../../../../src/lib/secret.ts";
import { podman } from "../../../harness/outside/podman.ts";
import { scratch } from "../../../harness/scratch.ts";
import { commandSpec } from "../commands.ts";
import { runToEnd } from "../instances.ts";
import { type DockerFixture, dockerFixture } from "./fixture.ts";

const idOf = (digit: string) => `sha256:${digit.repeat(64)}`;
const [pulled, other]: ImageNames[] = [
  { id: idOf("a"), names: ["ghcr.io/acme/app:1"] },
  { id: idOf("b"), names: ["ghcr.io/acme/base:1"] },
] as const;
const repository = "ghcr.io/acme/app";
const open = { isPrivate: false, isHolders: false };
const foreign = { isPrivate: true, isHolders: false };

/** @param here what the engine has; changed by the tests */
const rememberedOn = (here: ImageNames[], dataDir = scratch("images")) =>
  new PrivateImages({ images: async () => here }, dataDir);

test("an image that may be pulled is found by its name, never by an id", async () => {
  const asked: string[] = [];
  const engine = {
    image: async (name: string) => {
      asked.push(name);
      return null;
    },
    pull: async () => {
      throw new EngineError("unknown", 404);
    },
    answers: async () => true,
  };
  const images = new Images(engine, rememberedOn([]), async () => true);
  const get = (reference: string, pullPolicy: "Never" | "IfNotPresent") =>
    images.get({ reference, pullPolicy }, () => {}).catch(({ code }) => code);
  expect(await get("deadbeef", "IfNotPresent")).toBe("image_pull_failed");
  expect(await images.here({ reference: "deadbeef", pullPolicy: "Always" })).toBeNull();
  expect(await get("deadbeef", "Never")).toBe("image_pull_failed");
  expect(asked).toEqual(["docker.io/library/deadbeef:latest", "docker.io/library/deadbeef:latest", "deadbeef"]);
});

describe("an image pulled with a credential", () => {
  const here: ImageNames[] = [other as ImageNames];
  const dataDir = scratch("images");
  const images = rememberedOn(here, dataDir);
  const image = pulled as ImageNames;

  test("is private while it is pulled, and its holder's afterwards", async () => {
    await images.during(repository, "acme one", async () => {
      here.push(image);
      // The engine has it before the pull is over: by another name too.
      expect(await images.of(image, "acme one")).toEqual(foreign);
      expect(await images.of({ ...image, names: [`${repository}@${idOf("c")}`] }, null)).toEqual(foreign);
      expect(await images.of(other as ImageNames, null)).toEqual(open);
      return image;
    });
    expect(await images.of(image, "acme one")).toEqual({ isPrivate: true, isHolders: true });
    expect(await images.of(image, "acme two")).toEqual(foreign);
    expect(await images.of(image, null)).toEqual(foreign);
  });

  test("stays private for a later process, and when it has lost its name", async () => {
    const later = rememberedOn(here, dataDir);
    await later.sweep();
    expect(await later.of({ ...image, names: [] }, null)).toEqual(foreign);
    expect(await later.of(image, "acme one")).toEqual({ isPrivate: true, isHolders: true });
  });

  test("that all tenants could use before stays open to all", async () => {
    await images.during("ghcr.io/acme/base", "acme one", async () => other as ImageNames);
    expect(await images.of(other as ImageNames, null)).toEqual(open);
  });

  test("is not kept when the registry refuses; a pull that was cut off is private", async () => {
    const fresh: ImageNames[] = [];
    const at = scratch("images");
    const own = rememberedOn(fresh, at);
    const refused = own.during(repository, "acme one", async () => {
      throw new EngineError("denied", 401);
    });
    expect(await refused.catch((error: unknown) => error)).toBeInstanceOf(EngineError);
    expect(readdirSync(join(at, "images", "pulls"))).toEqual([]);
    const silent = own.during(repository, "acme one", async () => {
      throw new EngineError("no answer", null);
    });
    expect(await silent.catch((error: unknown) => error)).toBeInstanceOf(EngineError);
    fresh.push(image);
    expect(await own.of(image, "acme one")).toEqual(foreign);
    // The process that pulled is gone.
    const [name = ""] = readdirSync(join(at, "images", "pulls"));
    const path = join(at, "images", "pulls", name);
    await Bun.write(path, JSON.stringify({ ...(await Bun.file(path).json()), owner: null }));
    const later = rememberedOn(fresh, at);
    await later.sweep();
    expect(readdirSync(join(at, "images", "pulls"))).toEqual([]);
    expect(await later.of(image, null)).toEqual(foreign);
  });

  test("is forgotten some time after the engine has lost it", async () => {
    const fresh: ImageNames[] = [];
    const at = scratch("images");
    const own = rememberedOn(fresh, at);
    await own.during(repository, "acme one", async () => image);
    await own.sweep();
    expect((await own.of(image, null)).isPrivate).toBe(true);
    const [name = ""] = readdirSync(join(at, "images", "private"));
    utimesSync(join(at, "images", "private", name), 0, 0);
    fresh.push(image);
    await own.sweep();
    expect((await own.of(image, null)).isPrivate).toBe(true);
    fresh.pop();
    await own.sweep();
    expect(await own.of(image, "acme one")).toEqual(open);
  });

  test("is named in no file, and neither is who pulled it", () => {
    const names = readdirSync(join(dataDir, "images"), { recursive: true }).join("\n");
    expect(names).not.toMatch(/acme|ghcr/);
  });
});

test("the repository of a reference is without its tag and digest", () => {
  for (const [reference, expected] of [
    ["ghcr.io/acme/app:1", repository],
    [`ghcr.io/acme/app@${idOf("a")}`, repository],
    [`ghcr.io/acme/app:1@${idOf("a")}`, repository],
    ["localhost:5000/app", "localhost:5000/app"],
  ] as const) {
    expect(repositoryOf(reference)).toBe(expected);
  }
});

const engine = await podman();
// Counted as skipped where there are no containers.
test.skipIf(engine === null)("an engine answers", () => expect(engine).not.toBeNull());
if (engine !== null) {
  describe("a registry that asks for a name and a password", () => {
    const password = "the-password-of-the-registry";
    let fixture: DockerFixture;
    let registry: Awaited<ReturnType<typeof engine.registry>>;
    let reference: string;
    beforeAll(async () => {
      fixture = await dockerFixture(engine);
      registry = await engine.registry(`puller:${password}`);
      reference = `${registry.address}/svc/bare:1`;
    });
    afterAll(async () => {
      await fixture?.dispose();
      await registry?.stop();
    });

    const login = (holder: string, word = password): RegistryLogin => ({
      holder,
      username: new Secret("puller"),
      password: new Secret(word),
    });
    type Policy = "Always" | "IfNotPresent" | "Never";
    const ran = async (pullPolicy: Policy, as: RegistryLogin | null, name = reference): Promise<string> => {
      const image = { reference: name, pullPolicy, ...(as === null ? {} : { login: as }) };
      const spec = commandSpec(fixture, { argv: ["/bin/echo", "ran"] }, { image });
      try {
        return (await runToEnd(fixture.sandbox, spec)).exit.stdout.trim();
      } catch (error) {
        return String(error);
      } finally {
        await fixture.docker.remove(spec.instanceId);
      }
    };
    const asks = () => registry.asked.filter((path) => path.includes("/manifests/")).length;

    test("gives its image to a credential, and the host to no other without one", async () => {
      const [wrong, none] = [
        await ran("IfNotPresent", login("acme one", "no-good-word")),
        await ran("IfNotPresent", null),
      ];
      expect(wrong).toContain("the registry refused the credential or has no such image");
      expect(none).toContain("cannot be had: the registry or the container engine refused it");
      expect(await ran("IfNotPresent", login("acme one"))).toBe("ran");
      const before = asks();
      expect([await ran("IfNotPresent", login("acme one")), await ran("Never", login("acme one"))]).toEqual([
        "ran",
        "ran",
      ]);
      expect(asks()).toBe(before);
      // It is on the host now; and still another's.
      for (const policy of ["IfNotPresent", "Always"] as const) expect(await ran(policy, null)).toBe(none);
      expect(await ran("Never", null)).toContain("it is not on this host, and the pull policy is Never");
      expect(await ran("IfNotPresent", login("north two", "no-good-word"))).toBe(wrong);
      const { id } = (await fixture.docker.engine.image(reference)) as ImageNames;
      for (const name of [id, id.replace("sha256:", ""), id.slice(7, 19)]) {
        expect(await ran("Never", null, name)).toContain("the pull policy is Never");
      }
      // The registry itself lets another credential have it, and then all.
      expect(await ran("IfNotPresent", login("north two"))).toBe("ran");
      expect(asks()).toBeGreaterThan(before);
      registry.login = null;
      expect(await ran("IfNotPresent", null)).toBe("ran");
      registry.login = `puller:${password}`;
      expect(await ran("IfNotPresent", null)).toBe(none);
      const told = [wrong, none, ...fixture.warnings].join("\n");
      for (const word of [password, "no-good-word", Buffer.from(`puller:${password}`).toString("base64")]) {
        expect(told).not.toContain(word);
      }
    }, 60_000);

    test.each(["basic", "bearer"] as const)(
      "asked with %s, a login goes nowhere that the registry sends the engine on to",
      async (challenge) => {
        const own = await engine.registry(`puller:${password}`);
        const sent: [path: string, authorization: string | null][] = [];
        // The same content, at another host.
        const other = Bun.serve({
          hostname: "127.0.0.1",
          port: 0,
          fetch: ({ url, headers }) => {
            const { pathname } = new URL(url);
            sent.push([pathname, headers.get("authorization")]);
            return own.content(pathname);
          },
        });
        try {
          own.challenge = challenge;
          const elsewhere = `http://localhost:${other.port}`;
          own.redirects = { manifests: elsewhere, blobs: elsewhere };
          expect(await ran("IfNotPresent", login("acme one"), `${own.address}/svc/bare:1`)).toBe("ran");
          expect(own.asked.includes("/token")).toBe(challenge === "bearer");
          for (const kind of ["manifests", "blobs"]) {
            expect(sent.some(([path]) => path.includes(`/${kind}/`))).toBe(true);
          }
          expect(sent.filter(([, authorization]) => authorization !== null)).toEqual([]);
        } finally {
          await Promise.all([own.stop(), other.stop(true)]);
        }
      },
      60_000,
    );
  });
}
