/** What a node forbids holds for the isolation that a start really uses. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isolations } from "../../../../actors/agent/manifest/spec.ts";
import type { MountPlan } from "../../../../actors/execution/start/plan.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { manifest, manifestWith, specOf } from "../../agent/offer.ts";
import { api, codeOf, decide, laid, mount, none } from "./fixture.ts";

describe("the network policy", () => {
  test.each([
    ["none", false, null],
    ["none", true, null],
    ["deny", false, "runtime_unavailable"],
    ["deny", true, null],
    ["allow", false, "runtime_unavailable"],
  ])("mode %s where a policy %p can be enforced: %p", (mode, enforced, code) => {
    const spec = specOf(manifestWith("spec.security", { network: { mode, allowlist: ["api.example"] } }));
    expect(codeOf({ spec, offer: { enforcesNetwork: () => enforced } })).toBe(code);
  });

  test("the whole network only where the node opens it", () => {
    const network = { mode: "allow", allowlist: [], denylist: [] } as const;
    expect(codeOf({ spec: { network }, offer: { openEgress: false } })).toBe("open_egress_forbidden");
    expect(codeOf({ spec: { network }, offer: { openEgress: true } })).toBeNull();
  });
});

describe("what the node forbids holds for the isolation that is really used", () => {
  const docker = { ...specOf(manifest()).runtime, isolation: "docker" as const };

  test("a program in place of the bootstrap: not under process, outside development", () => {
    const spec = { runtime: docker, bootstrap_path: "/opt/agent" };
    expect(codeOf({ spec })).toBeNull();
    expect(codeOf(laid({ isolation: "process" }, spec))).toBe("bootstrap_path_forbidden");
    expect(codeOf(laid({ isolation: "inherit" }, spec))).toBe("bootstrap_path_forbidden");
    expect(codeOf({ ...laid({ isolation: "process" }, spec), offer: { development: true } })).toBeNull();
    const programFault = (_: string, path: string) => (path === "/opt/agent" ? "names a file of the service" : null);
    const refusing = { development: true, programFault };
    expect(codeOf({ ...laid({ isolation: "process" }, spec), offer: refusing })).toBe("bootstrap_path_forbidden");
    expect(codeOf({ spec, offer: refusing })).toBeNull();
  });

  test("an image of a registry that is not allowed: not in a container", () => {
    const runtime = { ...docker, isolation: "process" as const, language: null, image: "evil.example/tool:1" };
    const offer = { imageRegistries: ["docker.io"] };
    expect(codeOf({ spec: { runtime }, offer })).toBeNull();
    expect(codeOf({ ...laid({ isolation: "docker" }, { runtime }), offer })).toBe("image_not_allowed");
    const unasked = { ...docker, language: null, image: "acme/agent:1", image_pull_policy: "Never" as const };
    expect(codeOf({ spec: { runtime: unasked }, offer: { localImages: [] } })).toBe("image_not_allowed");
    expect(codeOf({ spec: { runtime: unasked }, offer: { localImages: ["acme/agent"] } })).toBeNull();
  });

  test("no granted start violates the offer, for any manifest and any overrides", () => {
    const isolation = fc.constantFrom(...isolations, "moon");
    const network = fc.option(
      fc.record({
        mode: fc.constantFrom("none" as const, "deny" as const, "allow" as const),
        allowlist: fc.constantFrom([], ["api.example"]),
        denylist: fc.constant([]),
      }),
    );
    const change = fc.record({
      manifest: fc.constantFrom(...isolations),
      override: fc.option(
        fc.record({
          isolation: fc.option(isolation),
          mounts: fc.constantFrom<MountPlan[][]>([], [mount("/workspace")]),
        }),
      ),
      language: fc.constantFrom("python", null),
      bootstrap_path: fc.constantFrom(null, "/opt/agent"),
      warm_pool_size: fc.constantFrom(0, 2),
      network,
      trigger: fc.constantFrom("api" as const, "stimulus" as const, "workflow" as const),
      offer: fc.record({
        isolations: fc.subarray(["docker", "process", "firecracker"] as const, { minLength: 1 }),
        defaultIsolation: fc.constantFrom("docker" as const, "process" as const),
        imageRegistries: fc.constantFrom(null, ["ghcr.io"]),
        openEgress: fc.boolean(),
        development: fc.boolean(),
      }),
      enforced: fc.boolean(),
    });
    fc.assert(
      fc.property(change, ({ manifest: own, override, offer, enforced, trigger, language, ...spec }) => {
        const { runtime } = specOf(manifest());
        const decision = decide({
          spec: { ...spec, runtime: { ...runtime, isolation: own, language, image: "evil.example/tool:1" } },
          request: {
            origin: { ...api, trigger },
            ...(override === null ? {} : { overrides: { ...none, ...override } }),
          },
          offer: { ...offer, enforcesNetwork: () => enforced },
        });
        if (decision instanceof Problem) return;
        const used = decision.header.runtime;
        const wished = override?.isolation ?? own;
        expect(wished === "moon").toBe(false);
        const settled = wished === "inherit" ? offer.defaultIsolation : wished;
        expect(offer.isolations.map(String)).toContain(settled);
        if (decision.header.inline !== true) expect(used.isolation).toBe(settled);
        if (settled === "process" && !offer.development) expect(decision.plan.bootstrap_path).toBeNull();
        if (settled !== "process" && language === null) expect(offer.imageRegistries).toBeNull();
        if (spec.network !== null && spec.network.mode !== "none") {
          expect(enforced).toBe(true);
          const isOpen = spec.network.mode === "allow" && spec.network.allowlist.length === 0;
          if (isOpen) expect(offer.openEgress).toBe(true);
        }
        if (override !== null && override.mounts.length > 0) expect(decision.plan.warm_pool_size).toBe(0);
      }),
      { numRuns: 1000 },
    );
  });
});
