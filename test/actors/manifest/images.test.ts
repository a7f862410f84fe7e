/** What manifests may say of images: which are run unasked, and what they are pulled with (docs/reference/sandboxes.md). */
import { describe, expect, test } from "bun:test";
import { localImageFault } from "../../../actors/manifest/images/local-images.ts";
import { placedRegistryCredentials } from "../../../actors/manifest/images/registry-credentials.ts";
import { manifestWith, reading } from "../agent/offer.ts";

const id = "0190f3c4-6d1e-7a55-9c1f-2f6d0c5b8e11";
const digest = `sha256:${"a".repeat(64)}`;

describe("the pull policy Never", () => {
  const may = (image: string, ...listed: readonly string[]) => localImageFault(image, "Never", listed) === null;

  test("is for images only that the operator lists; other policies are for all", () => {
    expect(may("acme/agent:1")).toBe(false);
    expect(localImageFault("acme/agent:1", "Never", null)).toBeNull();
    for (const policy of ["Always", "IfNotPresent"] as const) {
      expect(localImageFault("acme/agent:1", policy, [])).toBeNull();
    }
  });

  test.each([
    ["acme/agent:1", "acme/agent:1", true],
    ["docker.io/acme/agent:1", "acme/agent:1", true],
    ["acme/agent", "acme/agent:latest", true],
    ["acme/agent:2", "acme/agent:1", false],
    [`acme/agent@${digest}`, "acme/agent:1", false],
    [`acme/agent@${digest}`, "acme/agent", true],
    ["acme/agent:2", "docker.io/acme/agent", true],
    ["acme/agents", "acme/agent", false],
    ["GHCR.io/acme/agent", "ghcr.io/acme/agent", true],
    ["ghcr.io/acme/agent", "acme/agent", false],
    ["localhost/tools/a:1", "localhost/tools/*", true],
    ["localhost/tools/a/b:1", "localhost/tools/*", true],
    ["localhost/toolsmith/a", "localhost/tools/*", false],
    ["localhost:5000/tools/a", "localhost/*", false],
    ["acme/agent", "docker.io/*", true],
    ["anything/at-all", "*", true],
    // May be the beginning of an image's id.
    ["cafe", "docker.io/*", false],
    ["cafe", "cafe", false],
    ["cafe", "*", true],
  ])("of %s, listed as %s: %p", (image, listed, expected) => {
    expect(may(image, "other/image", listed)).toBe(expected);
  });

  test("of an agent's image is refused with its place, of the node's own it is not", () => {
    const over = { localImages: ["acme/agent"], isolations: ["docker" as const], defaultIsolation: "docker" as const };
    const verdict = (runtime: Record<string, string>) =>
      reading(manifestWith("spec.runtime", { image_pull_policy: "Never", ...runtime }), over);
    expect(verdict({ image: "acme/other" }).issues).toEqual([["spec.runtime.image_pull_policy", "image_not_allowed"]]);
    expect(verdict({ image: "acme/agent:7" }).code).toBeNull();
    expect(verdict({ language: "python", version: "3.12" }).code).toBeNull();
  });
});

describe("registry_credentials of an agent", () => {
  const read = (registry_credentials: unknown, runtime: Record<string, string> = { image: "ghcr.io/acme/agent:1" }) =>
    reading(manifestWith("spec.runtime", { ...runtime, registry_credentials } as never));

  test.each([
    [id.toUpperCase(), id, `credential:${id}`],
    [`credential://${id}`, id, `credential:${id}`],
    ["credential:GHCR/team", "credential:ghcr/team", "credential:ghcr/team"],
    ["secret://registries/ghcr#login", "secret:registries/ghcr#login", "secret:registries/ghcr#login"],
  ])("%s is kept as %s", (written, kept, text) => {
    expect(read(written).spec?.runtime.registry_credentials).toBe(kept);
    expect(placedRegistryCredentials(kept, "spec.runtime")).toMatchObject([
      { path: "spec.runtime.registry_credentials", reference: { text } },
    ]);
  });

  test.each(["ghcr", "", "name:password", "secret:../x", "credential:", 7, "env:X"])("%p is none", (written) => {
    expect(read(written).issues.map(([path]) => path)).toEqual(["spec.runtime.registry_credentials"]);
  });

  test("are for an image that the manifest names", () => {
    expect(read(id, { language: "python", version: "3.12" }).issues).toEqual([
      ["spec.runtime.registry_credentials", "invalid"],
    ]);
    expect(placedRegistryCredentials(null, "spec.runtime")).toEqual([]);
  });
});
