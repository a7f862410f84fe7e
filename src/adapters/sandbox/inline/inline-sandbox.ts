/**
 * The inline adapter of the sandbox port: instances without a program. An agent without tools, scripts, programs and
 * volumes of its own brings nothing to run: all that its bootstrap would do is carry the prompt to the gateway and the
 * answer back. Here the node does that itself, by the bootstrap's own exchange, as a caller of the gateway like any
 * other: under the execution's token, through the gateway's own handler.
 *
 * Nothing an agent brings is run: a command that the gateway hands out ends the exchange as a fault. An instance lives
 * in this node's memory and ends with it, and that loses nothing: every message of an exchange may be sent again, so
 * the same instance may be launched anew, here or on another node, and goes on where it stood.
 */

import { trimText } from "../../../../actors/execution/trim.ts";
import { utf8Tail } from "../../../../actors/kernel/text.ts";
import { safeId } from "../../../lib/files/agent-files.ts";
import { orAborted } from "../../../lib/timers.ts";
import { exchange } from "../../../programs/bootstrap/exchange.ts";
import { diagnostic, exitCodes, exitOf } from "../../../programs/bootstrap/exit.ts";
import { BadInput, type BootstrapInput, readInput } from "../../../programs/bootstrap/input.ts";
import { type Reply, readReply, type Send } from "../../../programs/bootstrap/transport.ts";
import {
  type FollowOptions,
  type InstanceExit,
  type InstanceSpec,
  LaunchFailure,
  lostExit,
  type PauseAnswer,
  type Sandbox,
  type SandboxDescription,
} from "../instance.ts";

export interface InlineSandboxOptions {
  /** Answers a request as the gateway's listener would. */
  readonly gateway: (request: Request) => Promise<Response>;
}

const stdoutCap = 1_048_576;
const stderrCap = 65_536;
/** Of a bootstrap that is asked to end. */
const terminatedCode = 143;

interface Instance {
  readonly executionId: string;
  readonly controller: AbortController;
  readonly exit: Promise<InstanceExit>;
  hasEnded: boolean;
}

/** The gateway handed out a command. */
class NothingRuns extends Error {
  override readonly name = "NothingRuns";
}

export function createInlineSandbox(options: InlineSandboxOptions): Sandbox {
  return new InlineSandbox(options);
}

class InlineSandbox implements Sandbox {
  readonly #instances = new Map<string, Instance>();

  constructor(readonly options: InlineSandboxOptions) {}

  /** No sandbox, for nothing is in it; and nothing of the agent that could reach out. */
  describe(): SandboxDescription {
    return { isolation: "process", sandbox: "none", egressEnforced: true, unenforcedLimits: [] };
  }

  async launch(spec: InstanceSpec): Promise<void> {
    const instanceId = safeId(spec.instanceId);
    if (this.#instances.has(instanceId)) return;
    requireNothingToRun(spec);
    const controller = new AbortController();
    const instance: Instance = {
      executionId: spec.executionId,
      controller,
      hasEnded: false,
      exit: this.#run(spec, controller.signal).finally(() => {
        instance.hasEnded = true;
      }),
    };
    this.#instances.set(instanceId, instance);
  }

  async inspect(instanceId: string): Promise<"running" | "exited" | "gone"> {
    const instance = this.#instances.get(safeId(instanceId));
    if (instance === undefined) return "gone";
    return instance.hasEnded ? "exited" : "running";
  }

  async follow(instanceId: string, { signal, from, onOutput }: FollowOptions): Promise<InstanceExit> {
    signal.throwIfAborted();
    const instance = this.#instances.get(safeId(instanceId));
    if (instance === undefined) return lostExit;
    const exit = await orAborted(instance.exit, signal);
    for (const stream of ["stdout", "stderr"] as const) {
      const bytes = Buffer.from(exit[stream]);
      const news = bytes.subarray(from[stream]);
      if (news.length > 0) onOutput({ stream, offset: from[stream], content: news.toString(), bytes: news.length });
    }
    return exit;
  }

  /** It waits in the node itself, which costs next to nothing. */
  async pause(instanceId: string): Promise<PauseAnswer> {
    return (await this.inspect(instanceId)) === "running" ? "unsupported" : "gone";
  }

  async resume(): Promise<void> {}

  /** There is nothing that could run a command. */
  async exec(): Promise<null> {
    return null;
  }

  /** Nothing here needs a grace: it ends at once. */
  async terminate(instanceId: string): Promise<void> {
    const instance = this.#instances.get(safeId(instanceId));
    if (instance === undefined) return;
    instance.controller.abort();
    await instance.exit;
  }

  async remove(instanceId: string): Promise<void> {
    await this.terminate(instanceId);
    this.#instances.delete(instanceId);
  }

  async list(): Promise<readonly { readonly instanceId: string; readonly executionId: string }[]> {
    return [...this.#instances].map(([instanceId, { executionId }]) => ({ instanceId, executionId }));
  }

  /** Never rejects. */
  async #run(spec: InstanceSpec, signal: AbortSignal): Promise<InstanceExit> {
    let stderr = "";
    const say = (level: "ERROR" | "WARN" | "DEBUG", message: string): void => {
      stderr += diagnostic(level, message);
    };
    const ended = (reason: "exited" | "terminated", exitCode: number, stdout: string): InstanceExit => ({
      reason,
      exitCode,
      stdout: trimText(stdout, stdoutCap),
      stdoutTruncated: Buffer.byteLength(stdout) > stdoutCap,
      stderr: utf8Tail(Buffer.from(stderr), stderrCap),
      stderrTruncated: Buffer.byteLength(stderr) > stderrCap,
    });
    try {
      const none = async () => "";
      const input = await readInput(spec.environment, spec.prompt, none, none, (message) => say("WARN", message));
      const outcome = await exchange(input, {
        send: this.#transport(input, signal),
        exec: async () => {
          throw new NothingRuns("the agent has nothing that could run a command");
        },
        sleep: (ms) => orAborted(Bun.sleep(ms), signal),
        now: () => performance.now(),
        random: Math.random,
        report: (message) => {
          if (input.debug) say("DEBUG", message);
        },
      });
      const { exitCode, output, error } = exitOf(outcome);
      if (error !== null) say("ERROR", error);
      return ended("exited", exitCode, output);
    } catch (error) {
      if (signal.aborted) return ended("terminated", terminatedCode, "");
      const isKnown = error instanceof BadInput || error instanceof NothingRuns;
      say("ERROR", isKnown ? error.message : "unexpected fault");
      return ended("exited", error instanceof BadInput ? exitCodes.badInput : exitCodes.fault, "");
    }
  }

  /** Sends reject when the instance is asked to end. */
  #transport({ orchestratorUrl, token }: BootstrapInput, signal: AbortSignal): Send {
    const address = new URL("/v1/dispatch-gateway", orchestratorUrl).href;
    const headers: Record<string, string> = { "content-type": "application/json" };
    if (token !== null) headers.authorization = `Bearer ${token}`;
    const ask = async (body: string): Promise<Reply> => {
      const handle = this.options.gateway;
      const response = await handle(new Request(address, { method: "POST", headers, body }));
      return readReply(response, await response.text());
    };
    return async (body, timeoutMs) => {
      signal.throwIfAborted();
      const late = Promise.withResolvers<Reply>();
      const timer = setTimeout(() => late.resolve({ kind: "timed_out" }), timeoutMs);
      try {
        const answer = ask(body).catch((): Reply => ({ kind: "unreachable", reason: "failed" }));
        return await orAborted(Promise.race([answer, late.promise]), signal);
      } finally {
        clearTimeout(timer);
      }
    };
  }
}

/** @throws LaunchFailure for an instance that is more than an exchange */
function requireNothingToRun({
  startupScript,
  command,
  bootstrapPath,
  pool,
  image,
  mounts,
  egress,
}: InstanceSpec): void {
  const brings = [startupScript, command, bootstrapPath, pool, image, egress].some((part) => part !== null);
  if (brings || mounts.length > 0) {
    throw new LaunchFailure("runtime_error", "An agent that brings something to run needs an instance of its own");
  }
}
