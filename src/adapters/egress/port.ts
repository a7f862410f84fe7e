/** What the rest of the service may use of egress: guarded calls, the proxy for sandboxes, and their failures. */
export type { Admission } from "./admission.ts";
export { type EgressEnvironment, EgressFailed, EgressRefused, type Resolver, systemResolver } from "./destination.ts";
export { type GuardedOptions, type GuardedResponse, guardedFetch } from "./guarded-fetch.ts";
export { guardedStream } from "./guarded-stream.ts";
export {
  createProxy,
  type Outcome,
  type Proxy,
} from "./proxy.ts";
export { egressSettings, readEgress } from "./settings.ts";
