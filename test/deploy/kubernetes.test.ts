/** The manifests of deploy/kubernetes name what svc has: settings, ports, probes, programs, the user of its image. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse, parseAllDocuments } from "yaml";
import { settings } from "../../src/node/config.ts";
import type { LooseJson } from "../harness/loose-json.ts";

const root = join(import.meta.dir, "../..");
const folder = join(root, "deploy/kubernetes");
const read = (name: string): string => readFileSync(join(folder, name), "utf8");
const known = new Map(Object.values(settings).map((setting) => [setting.name, setting]));

/** Objects of the manifests that a kustomization lists. */
function objectsOf(name: string): LooseJson[] {
  const { resources } = parse(read(join(name, "kustomization.yaml")));
  return resources.flatMap((file: string) => parseAllDocuments(read(join(name, file))).map((one) => one.toJS()));
}

const objects = objectsOf(".");
const [nodes] = objects.filter(({ kind }) => kind === "StatefulSet");
const [job] = objectsOf("migrate");
const [container] = nodes.spec.template.spec.containers;
const ports = Object.fromEntries(container.ports.map(({ name, containerPort }: LooseJson) => [name, containerPort]));

test("each file is in a kustomization, and each object has a kind and a name", () => {
  const listed = [".", "migrate"].flatMap((name) => {
    const { resources, configMapGenerator = [] } = parse(read(join(name, "kustomization.yaml")));
    const made = configMapGenerator.flatMap(({ envs = [], files = [] }: LooseJson) => [...envs, ...files]);
    return ["kustomization.yaml", ...resources, ...made].map((file: string) => join(name, file));
  });
  const there = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  expect(there.length).toBe(listed.length);
  expect(listed.filter((file) => !existsSync(join(folder, file)))).toEqual([]);
  for (const { apiVersion, kind, metadata } of [...objects, job])
    expect([typeof apiVersion, typeof kind, typeof metadata.name]).toEqual(["string", "string", "string"]);
});

test("the settings are ones that svc has", () => {
  const named = [...read("settings.env").matchAll(/^(\w+)=/gm)].map(([, name = ""]) => name);
  expect(named.length).toBeGreaterThan(5);
  const page = readFileSync(join(root, "docs/guide/kubernetes.md"), "utf8");
  const secrets = [...page.matchAll(/--from-literal=(\w+)=/g)].map(([, name = ""]) => name);
  expect(secrets).toContain("SVC_MASTER_KEY");
  expect([...named, ...secrets].filter((name) => !known.has(name))).toEqual([]);
});

test("ports and probes are those of svc, and services lead to them", () => {
  expect(String(ports.http)).toBe(known.get("SVC_PORT")?.defaultText ?? "");
  expect(String(ports.metrics)).toBe(known.get("SVC_METRICS_PORT")?.defaultText ?? "");
  const probes = ["startupProbe", "livenessProbe", "readinessProbe"].map((name) => container[name].httpGet);
  expect(probes.map(({ path }) => path)).toEqual(["/health/live", "/health/live", "/health/ready"]);
  const targets = objects.flatMap(({ kind, spec }) => (kind === "Service" ? (spec.ports ?? []) : []));
  for (const { targetPort } of [...targets, ...probes.map(({ port }) => ({ targetPort: port }))])
    expect(Object.keys(ports)).toContain(targetPort);
  const drain = Number(known.get("SVC_DRAIN_SECONDS")?.defaultText);
  expect(nodes.spec.template.spec.terminationGracePeriodSeconds).toBeGreaterThan(drain);
});

test("programs, folders and the user are those of the image", () => {
  const image = readFileSync(join(root, "Dockerfile"), "utf8");
  const [program, file] = job.spec.template.spec.containers[0].command;
  expect([image.includes(program), existsSync(join(root, file))]).toEqual([true, true]);
  const mounts = container.volumeMounts.map(({ mountPath }: LooseJson) => mountPath);
  expect(mounts).toEqual(["/var/lib/svc", "/etc/svc"]);
  expect(image).toContain("SVC_DATA_DIR=/var/lib/svc");
  expect(read("settings.env")).toContain("SVC_CONFIG_FILE=/etc/svc/config.yaml");
  // `node` of the base image.
  expect([image.includes("USER node"), nodes.spec.template.spec.securityContext.runAsUser]).toEqual([true, 1000]);
});

test("pods have no root, no capability and the filter that the checkout has", () => {
  const { securityContext: pod } = nodes.spec.template.spec;
  for (const { securityContext } of [container, job.spec.template.spec.containers[0]])
    expect(securityContext).toMatchObject({ allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } });
  expect(pod).toMatchObject({ runAsNonRoot: true, seccompProfile: { localhostProfile: "svc/seccomp.json" } });
  expect(existsSync(join(root, "docker/seccomp.json"))).toBe(true);
});
