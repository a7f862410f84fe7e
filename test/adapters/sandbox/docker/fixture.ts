/** Docker adapters over a data directory of their own on the tests' Podman. */
import { chownSync, mkdirSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import {
  createDockerSandbox,
  type DockerSandbox,
  type DockerSandboxOptions,
} from "../../../../src/adapters/sandbox/docker/docker-sandbox.ts";
import type { InstanceSpec, Sandbox } from "../../../../src/adapters/sandbox/port.ts";
import { makeSocketFolder } from "../../../../src/lib/sockets/tenant-sockets.ts";
import type { Podman } from "../../../harness/outside/podman.ts";
import { scratch } from "../../../harness/scratch.ts";
import { shellProgram } from "../fixture.ts";
import { type SandboxFixture, sampleTenant } from "../instances.ts";

export interface DockerFixture extends SandboxFixture {
  readonly dataDir: string;
  readonly warnings: string[];
  readonly docker: DockerSandbox;
  anotherDocker(): Promise<DockerSandbox>;
}

export async function dockerFixture(
  engine: Podman,
  changes: Partial<DockerSandboxOptions> & { readonly image?: string } = {},
): Promise<DockerFixture> {
  const { image = engine.bare, ...rest } = changes;
  const dataDir = scratch("docker");
  const warnings: string[] = [];
  const options: DockerSandboxOptions = {
    socket: engine.socket,
    dataDir,
    warmPoolCap: 20,
    program: shellProgram,
    mayReach: async () => true,
    warn: (message) => warnings.push(message),
    ...rest,
  };
  const anotherDocker = async () => {
    const made = await createDockerSandbox(options);
    if (made === null) throw new Error("the engine does not answer");
    return made;
  };
  const docker = await anotherDocker();
  const agents = (path: string) => {
    mkdirSync(path, { recursive: true });
    chownSync(path, 1_000, 1_000);
    return path;
  };
  const socketIn = (directory: string) => (name: string) =>
    join(makeSocketFolder(directory, sampleTenant), `${name}.sock`);
  return {
    dataDir,
    warnings,
    docker,
    sandbox: withImage(docker, image),
    holds: { mounts: true, pause: true, network: true },
    workspace: (executionId) => agents(docker.paths.workspace(executionId)),
    volume: () => agents(join(dataDir, "volumes", crypto.randomUUID())),
    gatewaySocket: socketIn(docker.paths.gateway),
    egressSocket: socketIn(docker.paths.egress),
    another: async () => withImage(await anotherDocker(), image),
    anotherDocker,
    async dispose() {
      await docker.drain();
      for (const { instanceId } of await docker.list()) await docker.remove(instanceId);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** The adapter as one whose instances have this image unless they name one. */
function withImage(docker: DockerSandbox, reference: string): Sandbox {
  const filled = (spec: InstanceSpec): InstanceSpec => ({
    ...spec,
    image: spec.image ?? { reference, pullPolicy: "IfNotPresent" },
  });
  return new Proxy(docker, {
    get(target, name) {
      if (name === "launch") {
        return (spec: InstanceSpec, report: Parameters<Sandbox["launch"]>[1]) => target.launch(filled(spec), report);
      }
      const member: unknown = Reflect.get(target, name, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}
