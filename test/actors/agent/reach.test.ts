/** What an agent may reach: network, files, volumes, bootstrap, attachments (docs/reference/agents.md). */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Json } from "../../../actors/kernel/json.ts";
import { normalPath } from "../../../actors/manifest/members.ts";
import { isWithin } from "../../../actors/policy/filesystem/mounts.ts";
import { manifestWith, reading, specOf } from "./offer.ts";

const id = "0190f3c2-6d1e-7a55-9c1f-2f6d0c5b8e11";

describe("network", () => {
  const network = (value: Json) => manifestWith("spec.security.network", value);
  test.each([
    [{}, { mode: "allow", allowlist: [], denylist: [] }],
    [{ mode: "none" }, { mode: "none", allowlist: [], denylist: [] }],
    [
      { mode: "deny", allowlist: ["api.example", "*.cdn.example:8443", "10.0.0.0/8", "[2001:db8::1]:443"] },
      {
        mode: "deny",
        allowlist: ["api.example", "*.cdn.example:8443", "10.0.0.0/8", "[2001:db8::1]:443"],
        denylist: [],
      },
    ],
    [{ denylist: ["BÜCHER.example"] }, { mode: "allow", allowlist: [], denylist: ["BÜCHER.example"] }],
  ])("%j", (value, expected) => {
    expect(specOf(network(value)).network).toEqual(expected as never);
  });

  test.each([
    [{ mode: "bridge" }, "mode", "invalid"],
    [{ allowlist: ["a.example", "http://x.example"] }, "allowlist.1", "invalid_host_pattern"],
    [{ allowlist: [7, "a b"] }, "allowlist.1", "invalid_host_pattern"],
    [{ allowlist: ["a.example."] }, "allowlist.0", "invalid_host_pattern"],
    [{ denylist: ["*"] }, "denylist.0", "invalid_host_pattern"],
    [{ denylist: ["a.*.example"] }, "denylist.0", "invalid_host_pattern"],
    [{ denylist: ["a.example:70000"] }, "denylist.0", "invalid_host_pattern"],
    [{ allowlist: "a.example" }, "allowlist", "invalid"],
  ] as const)("%j", (value, below, code) => {
    expect(reading(network(value as Json)).issues).toContainEqual([`spec.security.network.${below}`, code]);
  });

  test("a node may open nothing without a list", () => {
    const closed = { openEgress: false };
    expect(reading(network({ mode: "allow" }), closed).code).toBe("open_egress_forbidden");
    for (const value of [{ mode: "allow", allowlist: ["a.example"] }, { mode: "deny" }, { mode: "none" }]) {
      expect(reading(network(value), closed).code).toBeNull();
    }
  });
});

describe("files", () => {
  const files = (value: Json) => manifestWith("spec.security.filesystem", value);
  test("patterns are stored in their plain form", () => {
    expect(
      specOf(files({ read: ["/workspace//a/./b/"], write: ["/workspace/out"], read_only: true })).filesystem,
    ).toEqual({
      read: ["/workspace/a/b"],
      write: ["/workspace/out"],
      read_only: true,
    });
  });

  test.each([
    [{ read: ["/workspace/../etc"] }, "read.0"],
    [{ read: ["relative"] }, "read.0"],
    [{ read: ["/a".repeat(65)] }, "read.0"],
    [{ write: [""] }, "write.0"],
    [{ write: "/workspace" }, "write"],
    [{ read_only: "yes" }, "read_only"],
  ] as const)("%j", (value, below) => {
    expect(reading(files(value as Json)).issues).toEqual([[`spec.security.filesystem.${below}`, "invalid"]]);
  });

  test.each([
    ["/workspace", []],
    ["/workspace/out", []],
    ["/", []],
    ["/workspace/*.txt", ["pattern_enforced_at_prefix"]],
    ["/workspace/**/x", ["pattern_enforced_at_prefix"]],
    ["/**", ["pattern_enforced_at_prefix"]],
    ["/etc", ["pattern_outside_volumes"]],
    ["/workspaces", ["pattern_outside_volumes"]],
    ["/data/*", ["pattern_enforced_at_prefix", "pattern_outside_volumes"]],
  ] as const)("%s warns of %p", (pattern, codes) => {
    const { warnings } = reading(files({ write: [pattern] }));
    expect(warnings).toEqual(codes.map((code) => ["spec.security.filesystem.write.0", code]));
  });
});

describe("volumes", () => {
  const volumes = (value: Json) => manifestWith("spec.volumes", value);
  test("defaults", () => {
    expect(specOf(volumes([{ name: "data", mount_path: "/workspace/data/" }])).volumes).toEqual([
      {
        name: "data",
        mount_path: "/workspace/data",
        storage_class: "ephemeral",
        access_mode: "read-write",
        size_limit_bytes: 256 * 2 ** 20,
        ttl_ms: 24 * 3600_000,
        source_volume_id: null,
      },
    ]);
  });
  test("what is written; an old word for managed; an existing volume", () => {
    const first = { name: "a", mount_path: "/workspace", type: "seaweedfs", storage_class: "persistent" };
    const second = { name: "b", mount_path: "/workspace/b", source: { volume_id: id.toUpperCase() } };
    expect(
      specOf(
        volumes([
          { ...first, size_limit: "1Gi", access_mode: "read-only" },
          second,
          { name: "c", mount_path: "/workspace/c", ttl_hours: 720 },
        ]),
      ).volumes,
    ).toMatchObject([
      { storage_class: "persistent", size_limit_bytes: 2 ** 30, access_mode: "read-only" },
      { source_volume_id: id, storage_class: "persistent" },
      { storage_class: "ephemeral", ttl_ms: 720 * 3600_000 },
    ]);
  });

  const one = { name: "a", mount_path: "/workspace/a" };
  const rows: readonly (readonly [value: Json, below: string, code?: string])[] = [
    [{}, ""],
    [["a"], ".0"],
    [[{ mount_path: "/workspace" }], ".0.name"],
    [[{ ...one, name: "A" }], ".0.name"],
    [[{ name: "a" }], ".0.mount_path"],
    [[{ ...one, mount_path: "data" }], ".0.mount_path"],
    [[{ ...one, mount_path: "/" }], ".0.mount_path"],
    [[{ ...one, mount_path: "/etc" }], ".0.mount_path"],
    [[{ ...one, mount_path: "/workspaces" }], ".0.mount_path"],
    [[{ ...one, mount_path: "/workspace/../etc" }], ".0.mount_path"],
    [[{ ...one, mount_path: "/workspace/a\nb" }], ".0.mount_path"],
    [[{ ...one, mount_path: "/workspace/*" }], ".0.mount_path"],
    [[{ ...one, mount_path: `/workspace${"/a".repeat(64)}` }], ".0.mount_path"],
    [[one, { ...one, mount_path: "/workspace/b" }], ".1.name"],
    [[one, { ...one, name: "b" }], ".1.mount_path"],
    [[one, { name: "b", mount_path: "/workspace/a/b" }], ".1.mount_path"],
    [[{ name: "b", mount_path: "/workspace/a/b" }, one], ".1.mount_path"],
    [
      [
        { name: "b", mount_path: "/workspace" },
        { name: "c", mount_path: "/workspace/" },
      ],
      ".1.mount_path",
    ],
    [[{ ...one, storage_class: "eternal" }], ".0.storage_class"],
    [[{ ...one, access_mode: "write-only" }], ".0.access_mode"],
    [[{ ...one, size_limit: "lots" }], ".0.size_limit"],
    [[{ ...one, size_limit: 0 }], ".0.size_limit"],
    [[{ ...one, ttl_hours: 721 }], ".0.ttl_hours"],
    [[{ ...one, source: {} }], ".0.source.volume_id"],
    [[{ ...one, source: { volume_id: "x" } }], ".0.source.volume_id"],
    [[{ ...one, source: { volume_id: id }, storage_class: "persistent" }], ".0.storage_class"],
    [[{ ...one, type: "hostPath" }], ".0.type", "volume_type_forbidden"],
    [[{ ...one, type: "local_host" }], ".0.type", "volume_type_forbidden"],
    [[{ ...one, type: "nfs" }], ".0.type", "unsupported_volume_type"],
    [Array.from({ length: 9 }, (_, i) => ({ name: `v${i}`, mount_path: `/workspace/${i}` })), ""],
  ];
  describe("of the host", () => {
    const open = { hostPaths: ["/srv/models", "/srv/data"] };
    const host = (more: object) => volumes([{ ...one, type: "hostPath", source: { path: "/srv/models/a" }, ...more }]);

    test.each(["hostPath", "local_host"])("%s is mounted from where it is, within what the node opens", (type) => {
      const { spec, issues } = reading(host({ type, access_mode: "read-only" }), open);
      expect(issues).toEqual([]);
      expect(spec?.volumes).toMatchObject([
        { name: "a", mount_path: "/workspace/a", access_mode: "read-only", host_path: "/srv/models/a" },
      ]);
      // Of others than operators a node opens none.
      expect(reading(host({ type })).issues).toEqual([["spec.volumes.0.type", "volume_type_forbidden"]]);
    });

    test.each<[string, object, string, string?]>([
      ["a path beside", { source: { path: "/srv/modelsx" } }, "source.path", "volume_type_forbidden"],
      ["a path above", { source: { path: "/srv" } }, "source.path", "volume_type_forbidden"],
      ["a way out", { source: { path: "/srv/models/../../etc" } }, "source.path"],
      ["a relative path", { source: { path: "srv/models" } }, "source.path"],
      ["no path", { source: {} }, "source.path"],
      ["no source", { source: null }, "source.path"],
      ["an id as well", { source: { path: "/srv/models", volume_id: id } }, "source.volume_id"],
      ["a storage class", { storage_class: "persistent" }, "storage_class"],
      ["the workspace itself", { mount_path: "/workspace" }, "mount_path"],
      ["a path of the service's own", { type: "managed" }, "source.path"],
    ])("%s is an issue", (_, more, place, code = "invalid") => {
      expect(reading(host(more), open).issues).toContainEqual([`spec.volumes.0.${place}`, code]);
    });
  });

  test.each(rows)("%j", (value, below, code = "invalid") => {
    expect(reading(volumes(value)).issues).toEqual([[`spec.volumes${below}`, code]]);
  });

  test.each([
    [{ storage_class: "persistent", ttl_hours: 1 }, ["ttl_hours"]],
    [{ source: { volume_id: id }, ttl_hours: 1, size_limit: "1Gi" }, ["ttl_hours", "size_limit"]],
    [{ storage_class: "ephemeral", ttl_hours: 1, size_limit: "1Gi" }, []],
  ])("what says nothing about the volume is told: %j", (more, keys) => {
    const { warnings } = reading(volumes([{ ...one, ...more }]));
    expect(warnings).toEqual(keys.map((key) => [`spec.volumes.0.${key}`, "unknown_field"] as const));
  });

  test("the root may stand beside what is below it, in either order", () => {
    const root = { name: "root", mount_path: "/workspace" };
    for (const both of [
      [root, one],
      [one, root],
    ]) {
      expect(reading(volumes(both)).issues).toEqual([]);
    }
  });

  test("no accepted set of mounts overlaps", () => {
    const segment = fc.constantFrom("a", "b", "aa", ".", "");
    const path = fc.array(segment, { maxLength: 4 }).map((parts) => ["/workspace", ...parts].join("/"));
    fc.assert(
      fc.property(fc.array(path, { maxLength: 5 }), (paths) => {
        const list = paths.map((mount_path, index) => ({ name: `v${index}`, mount_path }));
        const { spec } = reading(volumes(list));
        const normal = paths.map((each) => normalPath(each) ?? "");
        const clash = normal.some((one, i) =>
          normal.some((other, j) => i !== j && (one === other || (other !== "/workspace" && isWithin(one, other)))),
        );
        expect(spec === null).toBe(clash);
      }),
    );
  });
});

describe("advanced", () => {
  const advanced = (value: Json) => manifestWith("spec.advanced", value);
  test("what is written is kept", () => {
    const value = { warm_pool_size: 2, swarm_enabled: true, startup_script: "echo hi", bootstrap_path: "/bin/agent" };
    expect(specOf(advanced(value), { development: true })).toMatchObject({
      warm_pool_size: 2,
      swarm: true,
      startup_script: "echo hi",
      bootstrap_path: "/bin/agent",
    });
  });
  test("a program of the host replaces the bootstrap in development only", () => {
    const document = advanced({ bootstrap_path: "/bin/agent" });
    expect(reading(document).issues).toEqual([["spec.advanced.bootstrap_path", "bootstrap_path_forbidden"]]);
    expect(reading(document, { development: true }).code).toBeNull();
    const programFault = () => "is no regular file";
    const refusing = reading(document, { development: true, programFault });
    expect(refusing.issues).toEqual([["spec.advanced.bootstrap_path", "bootstrap_path_forbidden"]]);
    const docker = { isolations: ["docker" as const], defaultIsolation: "docker" as const };
    expect(reading(document, { ...docker, programFault: () => null }).code).toBeNull();
  });
  test.each([
    [{ warm_pool_size: 11 }, "warm_pool_size"],
    [{ warm_pool_size: -1 }, "warm_pool_size"],
    [{ swarm_enabled: 1 }, "swarm_enabled"],
    [{ startup_script: "€".repeat(22_000) }, "startup_script"],
    [{ bootstrap_path: "agent" }, "bootstrap_path"],
  ])("%j", (value, below) => {
    expect(reading(advanced(value)).issues).toEqual([[`spec.advanced.${below}`, "invalid"]]);
  });
});

describe("attachments", () => {
  const schema = { type: "object", properties: { attachments: { type: "array" } } };
  test.each([
    [[], true],
    [["fs.read"], true],
    [["svc.attachment.read"], false],
    [["aegis.attachment.read"], false],
    [["svc.*"], false],
    [["*"], false],
  ])("with the tools %j", (tools, warned) => {
    const document = manifestWith("spec.input_schema", schema);
    (document.spec as { [key: string]: Json }).tools = tools;
    const codes = reading(document).warnings.map(([, code]) => code);
    expect(codes.includes("attachment_tool_missing")).toBe(warned);
  });
});

test.each(["svc-agent-runtime", "svc-consumer-gold", "build", "a1-b2"])(
  "the context %s may be one of the tenant's or the system's",
  (name) => {
    expect(specOf(manifestWith("spec.security_context", name)).security_context).toBe(name);
  },
);

test.each(["__proto__", "SVC-AGENT-RUNTIME", "1st", "bu ild"])("the context %s is none", (name) => {
  expect(reading(manifestWith("spec.security_context", name)).code).toBe("unknown_security_context");
});
