/** Which commands this host runs, by the contexts of its configuration: the service's own evaluation, on the host's terms. */
import { isAbsolute, join } from "node:path";
import type { Json } from "../../../../actors/kernel/json.ts";
import { callFacts } from "../../../../actors/policy/security/call-facts.ts";
import {
  boundsOf,
  byName,
  evaluate,
  type Governing,
  pathRulesOf,
} from "../../../../actors/policy/security/evaluate.ts";
import type { SecurityContextSpec } from "../../../../actors/policy/security/spec.ts";
import { CMD_RUN } from "../../../../actors/tool/catalog.ts";
import type { EdgeConfig } from "../config/config.ts";

/** The tools that a host has. */
export const hostTools = [
  CMD_RUN,
  "fs.read",
  "fs.write",
  "fs.list",
  "fs.create_dir",
  "fs.delete",
  "fs.edit",
  "fs.multi_edit",
  "fs.grep",
  "fs.glob",
] as const;
export type HostTool = (typeof hostTools)[number];

export const isHostTool = (name: string): name is HostTool => (hostTools as readonly string[]).includes(name);

export type Arguments = { readonly [name: string]: Json | undefined };

export interface Permission {
  readonly allowed: true;
  /** As they were given; paths that were relative or absent are those of this host. */
  readonly arguments: Arguments;
  /** Lists each of which has to cover what the command really touches. */
  readonly pathRules: readonly (readonly string[])[];
  readonly maxTimeoutMs: number;
  readonly maxResponseBytes: number;
  /** To be called when the command has ended. */
  readonly release: () => void;
}

export interface Refusal {
  readonly allowed: false;
  readonly kind: "tool_not_supported" | "security_context_not_found" | "path_not_allowed" | "policy_violation";
  readonly message: string;
}

const defaultContext = "default";
/** Directories that are shown: they have to fit the first message of a connection. */
const maxShownEntries = 64;
const maxShownBytes = 8_192;

export class LocalPolicy {
  /** By context and capability: when calls came (Unix ms), and how many run. */
  readonly #calls = new Map<string, number[]>();
  readonly #running = new Map<string, number>();

  constructor(private readonly config: Pick<EdgeConfig, "contexts" | "workdir">) {}

  /** Names of the tools that some context can allow. */
  possibleTools(): HostTool[] {
    const bindings = [...this.config.contexts].map(([name, spec]) => ({ name, version: 1, spec }));
    return hostTools.filter((tool) => bindings.some((binding) => byName(tool, [binding]) === null));
  }

  /** Directories that contexts open, as far as they are named without wildcards. */
  mountPoints(): string[] {
    const specs: SecurityContextSpec[] = [...this.config.contexts.values()];
    const entries = specs.flatMap(({ capabilities }) => capabilities.flatMap((one) => one.path_allowlist ?? []));
    let room = maxShownBytes;
    return [...new Set(entries)]
      .filter((entry) => !entry.includes("*"))
      .slice(0, maxShownEntries)
      .filter((entry) => {
        room -= Buffer.byteLength(JSON.stringify(entry));
        return room >= 0;
      });
  }

  /**
   * A call that is let through counts in its rate, and among those that run until it is released.
   * @param context its name; null: `default` @param now Unix ms, of a clock that does not go back
   */
  judge(tool: string, given: Arguments, context: string | null, now: number): Permission | Refusal {
    if (!isHostTool(tool)) return refusal("tool_not_supported", `This host has no tool ${tool.slice(0, 200)}`);
    const name = context ?? defaultContext;
    const spec = this.config.contexts.get(name);
    if (spec === undefined) return refusal("security_context_not_found", `This host has no security context ${name}`);
    const placed = this.#placed(tool, given);
    const verdict = evaluate(callFacts(tool, placed), [{ name, version: 1, spec }]);
    if (!verdict.allowed) {
      const kind = verdict.code === "path_not_allowed" ? "path_not_allowed" : "policy_violation";
      return refusal(kind, verdict.message);
    }
    const held = this.#hold(verdict.governing, tool, now);
    if (typeof held === "string") return refusal("policy_violation", held);
    const { maxTimeoutSecs, maxResponseBytes } = boundsOf(verdict.governing);
    return {
      allowed: true,
      arguments: placed,
      pathRules: pathRulesOf(verdict.governing),
      maxTimeoutMs: maxTimeoutSecs * 1_000,
      maxResponseBytes,
      release: held,
    };
  }

  /** Paths begin at the working directory, and a tool that is given none works there. */
  #placed(tool: HostTool, given: Arguments): Arguments {
    const name = tool === CMD_RUN ? "cwd" : "path";
    const path = given[name];
    if (path === undefined || path === null) return { ...given, [name]: this.config.workdir };
    if (typeof path !== "string" || path === "" || isAbsolute(path)) return given;
    // Not normalized: the walk and the policy see `..` themselves.
    return { ...given, [name]: `${join(this.config.workdir, "/")}${path}` };
  }

  /** @returns what gives back the places; a text where one is not to be had */
  #hold(governing: readonly Governing[], tool: string, now: number): (() => void) | string {
    const places = governing.map(({ context, index, capability }) => ({ key: `${context} ${index}`, capability }));
    for (const { key, capability } of places) {
      const rate = capability.rate_limit;
      if (rate) {
        const recent = (this.#calls.get(key) ?? []).filter((at) => at > now - rate.per_seconds * 1_000);
        this.#calls.set(key, recent);
        if (recent.length >= rate.calls) return `${tool} is called too often`;
        recent.push(now);
      }
      const most = capability.max_concurrent ?? Number.POSITIVE_INFINITY;
      if ((this.#running.get(key) ?? 0) >= most) return `${tool} runs ${most} times already`;
    }
    const change = (by: number) => {
      for (const { key } of places) this.#running.set(key, (this.#running.get(key) ?? 0) + by);
    };
    change(1);
    return () => change(-1);
  }
}

const refusal = (kind: Refusal["kind"], message: string): Refusal => ({ allowed: false, kind, message });
