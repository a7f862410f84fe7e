import { expect, test } from "bun:test";
import { type ContainerNeeds, containerOptions } from "../../../../src/adapters/sandbox/docker/container-options.ts";
import { ContainerPaths } from "../../../../src/adapters/sandbox/docker/paths.ts";
import { scratch } from "../../../harness/scratch.ts";

const paths = new ContainerPaths(scratch("options"));
const needs: ContainerNeeds = {
  tenant: "acme",
  image: { id: "sha256:1", names: [], environment: [], volumes: ["/data", "/workspace/x", "/tmp/y", "/a,b", "/"] },
  labels: { "svc.instance": "i" },
  limits: { cpuMillicores: 50, memoryBytes: 2 ** 30, diskBytes: 2 ** 28, processes: 512 },
  mounts: [{ source: "/data/w", target: "/workspace", readOnly: true }],
  readOnlyRoot: false,
  isCommand: false,
  user: 1_000,
  egress: false,
  control: "/data/c",
  command: ["/keeper"],
  bootstrapScript: "/data/b",
};

test("every limit and restriction is in the options of a container", () => {
  const { HostConfig: host, ...rest } = containerOptions(needs, paths);
  expect(rest).toMatchObject({ User: "1000:1000", Entrypoint: ["/keeper"], Labels: { "svc.data": paths.identity } });
  expect(host).toMatchObject({
    NetworkMode: "none",
    CapDrop: ["ALL"],
    SecurityOpt: ["no-new-privileges"],
    PidsLimit: 512,
    Memory: 2 ** 30,
    MemorySwap: 2 ** 30,
    CpuPeriod: 100_000,
    CpuQuota: 5_000,
    ReadonlyRootfs: false,
    RestartPolicy: { Name: "no" },
  });
  expect(host?.Mounts).toContainEqual({ Type: "bind", Source: "/data/w", Target: "/workspace", ReadOnly: true });
});

test("the egress proxies are there only for those who may use them", () => {
  const targets = (egress: boolean) =>
    containerOptions({ ...needs, egress }, paths).HostConfig?.Mounts?.map(({ Target }) => Target);
  expect(targets(false)).not.toContain("/run/svc/egress");
  expect(targets(true)).toContain("/run/svc/egress");
});

test("an image's volumes become bounded memory, read-only under a read-only root", () => {
  const temporary = (readOnlyRoot: boolean) => containerOptions({ ...needs, readOnlyRoot }, paths).HostConfig?.Tmpfs;
  expect(temporary(false)).toEqual({
    "/tmp": `rw,nosuid,nodev,mode=1777,size=${2 ** 28}`,
    "/data": `rw,nosuid,nodev,mode=1777,size=${2 ** 28}`,
  });
  expect(temporary(true)).toEqual({
    "/tmp": `rw,nosuid,nodev,mode=1777,size=${2 ** 26}`,
    "/data": `ro,nosuid,nodev,mode=1777,size=${2 ** 26}`,
    "/run": "ro,nosuid,nodev,size=1m",
    "/var/tmp": "ro,nosuid,nodev,size=1m",
  });
});

test("two data directories have two identities, and one keeps its own", () => {
  expect(new ContainerPaths(paths.dataDir).identity).toBe(paths.identity);
  expect(new ContainerPaths(scratch("options")).identity).not.toBe(paths.identity);
  for (const bad of ["../x", "", "A".repeat(36)]) expect(() => paths.instance(bad)).toThrow(TypeError);
});
