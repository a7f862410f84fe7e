/** What the rest of the service may use of sandboxes. Nothing else in this folder is imported from outside. */
export { commandOutputBytes, commandsFolder } from "./command.ts";
export { type HostPathRules, hostDirectory } from "./host-paths.ts";
export { createInlineSandbox } from "./inline/inline-sandbox.ts";
export type { ExecResult, InsideCommand } from "./inside.ts";
export {
  EngineError,
  type InstanceEgress,
  type InstanceExit,
  type InstanceMount,
  type InstanceSpec,
  LaunchFailure,
  type LaunchNews,
  type OutputChunk,
  type OutputStream,
  type RegistryLogin,
  type Sandbox,
  type SandboxDescription,
} from "./instance.ts";
export { startupFailure } from "./instance-environment.ts";
export { defaultIsolation, openSandboxes } from "./open.ts";
export { registryLogin } from "./registry-login.ts";
export { type Instances, type Isolation, Sandboxes, weaknessesOf } from "./sandboxes.ts";
export { sandboxSettings } from "./settings.ts";
