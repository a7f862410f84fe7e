/** A signed call from its bytes to its answer. */

import { isForHost } from "../../../../actors/edge/host-calls.ts";
import { isObject, type Json } from "../../../../actors/kernel/json.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { canonicalText } from "../../../../actors/seal/canonical.ts";
import { NotRepresentable, objectOf } from "../../../../actors/seal/numbers.ts";
import type { RpcId, RpcRequest } from "../../../../actors/seal/rpc.ts";
import { JsonText, type Reply, reply } from "../../../http/answer.ts";
import { idempotent, type WorkMark } from "../../../http/idempotency.ts";
import { asProblem, internalError } from "../../../http/problem.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Incidents } from "../../incidents/port.ts";
import type { InvocationWriter } from "../../invocations/port.ts";
import type { Call, Invoked, Pipeline } from "../../pipeline/port.ts";
import { type RegisteredTool, ToolFailure, type ToolRegistry } from "../../tools/port.ts";
import type { WaitingCalls } from "../../waiting-calls/port.ts";
import { invocationRefusal, refusalResponse, type SealRefusal } from "../refusal.ts";
import { listedText } from "../tools/listed.ts";
import { answerOf, type CallAnswer, type Result, refusal, successText } from "./answer.ts";
import type { SealCaller } from "./caller.ts";
import { type Admitted, EnvelopeRefused } from "./checks.ts";
import type { Session } from "./session.ts";

export interface InvokeOptions {
  readonly sql: Sql;
  readonly check: (bytes: Uint8Array, requestId: string) => Promise<Admitted>;
  readonly callerOf: (session: Session) => Promise<SealCaller>;
  readonly pipeline: Pick<Pipeline, "invoke" | "effective">;
  readonly registry: Pick<ToolRegistry, "of">;
  readonly invocations: Pick<InvocationWriter, "change" | "bare">;
  /** How a session and its execution stand now, by their rows. */
  readonly standing: (session: Session) => Promise<"active" | "session_inactive" | "execution_not_running">;
  readonly waiting: Pick<WaitingCalls, "open" | "hold" | "get">;
  readonly incidents: Pick<Incidents, "report">;
  /** Told of failures of the service. */
  readonly warn: (error: unknown) => void;
  /** Unix ms. */
  readonly now: () => number;
}

/** A request as the route has it. */
export interface InvokeRequest {
  readonly request: Request;
  readonly requestId: string;
  readonly url: URL;
  readonly signal: AbortSignal;
  readonly bytes: Uint8Array;
}

/** What is wrong with envelopes, where another sender may have caused it. */
const suspicious = { invalid_signature: "invalid_signature", replay_detected: "replay_detected" } as const;

export function createInvoke(options: InvokeOptions) {
  const { check, callerOf, pipeline, incidents, now } = options;

  function refusing(given: SealRefusal, requestId: string, id: RpcId | null): Response {
    return refusalResponse(given, requestId, id, now());
  }

  function envelopeRefused({ code, message, session, rpc }: EnvelopeRefused, requestId: string): Response {
    if (session !== null && (code === "invalid_signature" || code === "replay_detected")) {
      incidents.report({
        category: suspicious[code],
        tenant: session.tenant,
        agentId: session.detached ? null : session.agentId,
        executionId: session.detached ? null : session.executionId,
        sessionId: session.id,
        toolName: rpc !== null && "tool" in rpc ? rpc.tool.slice(0, 300).replaceAll("\0", "") : null,
        violationType: null,
        details: {},
      });
    }
    const details =
      code === "rate_limited"
        ? { violation_type: "rate_limit_exceeded", limit_source: "session", retry_after_seconds: 1 }
        : {};
    return refusing(refusal(code, message, details, 1), requestId, rpc?.id ?? null);
  }

  /** The answer to what asks for no tool. */
  async function told(session: Session, method: "ping" | "tools/list"): Promise<Result> {
    const { who, policy } = await callerOf(session);
    if (method === "ping") return {};
    const tools = await pipeline.effective(session.tenant, who, policy);
    return new JsonText(`{"tools":[${tools.map(listedText).join(",")}]}`);
  }

  /** @param workId the same on every attempt */
  async function called(
    { session, invocationId }: Admitted,
    rpc: ToolCall,
    request: InvokeRequest,
    { workId, mark }: { readonly workId: string; readonly mark?: WorkMark },
  ): Promise<CallAnswer> {
    const caller = await callerOf(session);
    let given: Call["arguments"];
    try {
      given = objectOf(rpc.arguments, "arguments");
    } catch (error) {
      if (!(error instanceof NotRepresentable)) throw error;
      const { path, message } = error;
      options.invocations.change(invocationId, session.tenant, { outcome: "failed", code: "number_not_representable" });
      return { refusal: refusal("number_not_representable", message, { issues: [{ path, message, code: "number" }] }) };
    }
    const call: Call = {
      ...{ tenant: session.tenant, entry: "seal", tool: rpc.tool, arguments: given },
      ...{ idempotencyKey: workId, invocationId, requestId: request.requestId },
      ...{ who: caller.who, policy: caller.policy },
      // Under a key a client that left may come back for the result: its call goes on, within the tool's own time.
      ...(mark === undefined ? { signal: request.signal } : { signal: endless, begins: mark.begin }),
    };
    const tool = (await options.registry.of(session.tenant)).find(rpc.tool);
    if (mark?.begun === true && !repeats(tool) && !isForHost(tool, given)) {
      const name = tool?.name ?? rpc.tool;
      options.invocations.change(invocationId, session.tenant, {
        outcome: "interrupted",
        code: "interrupted",
        ran: true,
      });
      const message = `It is not known whether ${name} was run: the request that ran it left no answer`;
      return answerOf({ is: "failed", code: "interrupted", message, ran: true }, name, invocationId, false);
    }
    const standing = () => options.standing(session);
    const invoked: Invoked = await pipeline.invoke(call, options.waiting.open, {
      ...{ recorded: true, standing, hold: options.waiting.hold },
    });
    return answerOf(invoked, tool?.name ?? rpc.tool, invocationId, tool?.source === "mcp");
  }

  /** Under the same key a session gets the first result again, and the tool does not run again. */
  async function onceForKey(admitted: Admitted, rpc: ToolCall, request: InvokeRequest): Promise<CallAnswer> {
    const { session, invocationId } = admitted;
    if (!request.request.headers.has("idempotency-key")) {
      return called(admitted, rpc, request, { workId: invocationId });
    }
    const repeatable = {
      request: request.request,
      identity: { realm: "seal", userId: session.id, keyId: null },
      tenant: session.tenant,
      path: sameUrl.pathname,
      url: sameUrl,
      signal: request.signal,
      bytes: new TextEncoder().encode(JSON.stringify([rpc.tool, canonicalText(rpc.arguments)])),
    };
    const { status, body } = await idempotent(
      repeatable,
      options.sql,
      async (workId, _, given): Promise<Reply<number, Members | SealRefusal>> => {
        const asked = workId === invocationId ? null : await askedBefore(session, workId, request);
        if (asked !== null) {
          options.invocations.bare(invocationId, session.tenant);
          return reply(asked.status, asked.result);
        }
        let isRun = given.begun;
        const begin = async () => {
          await given.begin();
          isRun = true;
        };
        const answer = await called(admitted, rpc, request, { workId, mark: { begun: given.begun, begin } });
        if (!("refusal" in answer)) return reply(answer.status, answer.result);
        // A tool that ran, and whose result is withheld, is not run again.
        if (isRun) return reply(answer.refusal.status, answer.refusal);
        throw new CallRefused(answer.refusal);
      },
      // A call that people are asked about is found by it, should its answer be lost.
      () => invocationId,
    );
    // What was called is on the first one's record.
    if (body instanceof JsonText) options.invocations.bare(invocationId, session.tenant);
    const kept: Members | SealRefusal = body instanceof JsonText ? JSON.parse(body.text) : body;
    if (status !== 200 && status !== 202) return { refusal: kept as SealRefusal };
    const result = kept as Members;
    return status === 202 && body instanceof JsonText ? asItStands(session, result, request) : { status, result };
  }

  /** The call about which the first request under a key had people asked, where that left no answer; null: it had none. */
  async function askedBefore({ tenant, principal }: Session, id: string, { signal }: InvokeRequest) {
    try {
      const known = await options.waiting.get({ tenant, principal }, id, 0, signal);
      if (known.status === "pending") return { status: 202, result: known } as const;
      return { status: 200, result: isObject(known.result) ? known.result : known } as const;
    } catch (error) {
      if (error instanceof ToolFailure && error.code === "not_found") return null;
      throw error;
    }
  }

  /** What became of a call that waited for a person when its key was first used. */
  async function asItStands(session: Session, kept: Members, { signal }: InvokeRequest): Promise<CallAnswer> {
    const { tenant, principal } = session;
    const told = await options.waiting
      .get({ tenant, principal }, String(kept.invocation_id), 0, signal)
      .catch((error: unknown): Members => {
        // What it came to is kept for a day; the key may be remembered a little longer.
        if (error instanceof ToolFailure) return { result: failedText(error) };
        throw error;
      });
    if (told.status === "pending") return { status: 202, result: told };
    const { result = null } = told;
    return { status: 200, result: isObject(result) ? result : told };
  }

  /** Of a call that came to no outcome of its own: what has ended already stays as it ended. */
  function endRecord(admitted: Admitted | null, { signal }: InvokeRequest, problem: Problem | null): void {
    if (admitted === null || !("tool" in admitted.rpc)) return;
    const { session, invocationId } = admitted;
    const [outcome, code] = signal.aborted
      ? (["interrupted", "interrupted"] as const)
      : (["failed", problem?.code ?? "internal_error"] as const);
    options.invocations.change(invocationId, session.tenant, { outcome, code });
  }

  return async (request: InvokeRequest): Promise<Response> => {
    const { requestId, bytes } = request;
    let id: RpcId | null = null;
    let admitted: Admitted | null = null;
    try {
      admitted = await check(bytes, requestId);
      const { rpc } = admitted;
      id = rpc.id;
      if ("fault" in rpc) return refusing(refusal("invalid_rpc_request", rpc.fault), requestId, id);
      if (!("tool" in rpc)) return answered(rpc.id, 200, await told(admitted.session, rpc.method));
      const answer = await onceForKey(admitted, rpc, request);
      if ("refusal" in answer) return refusing(answer.refusal, requestId, rpc.id);
      return answered(rpc.id, answer.status, answer.result);
    } catch (error) {
      if (error instanceof CallRefused) return refusing(error.refusal, requestId, id);
      if (error instanceof EnvelopeRefused) return envelopeRefused(error, requestId);
      const problem = asProblem(error);
      if (problem === null) options.warn(error);
      endRecord(admitted, request, problem);
      return refusing(invocationRefusal(problem ?? internalError()), requestId, id);
    }
  };
}

type ToolCall = Extract<RpcRequest, { readonly tool: string }>;

const answered = (id: RpcId, status: 200 | 202, result: Result): Response =>
  new Response(successText(id, result), { status, headers: { "Content-Type": "application/json" } });

/** A refusal leaves no answer behind under its key: the call may be tried again. */
class CallRefused extends Problem {
  constructor(readonly refusal: SealRefusal) {
    super("validation_failed", refusal.message, {}, {}, refusal.status);
  }
}

const endless = new AbortController().signal;

/** Whether work that may have been done can be done again: it looks only, or is told by its id. */
const repeats = (tool: RegisteredTool | undefined): boolean =>
  tool === undefined || tool.readOnly || tool.idempotent || tool.source === "management";

const failedText = ({ code, message }: ToolFailure): Members => ({
  ...{ status: "error", isError: true, error: message, code, message },
});

type Members = { readonly [member: string]: Json };

/** Both paths of the route are one. */
const sameUrl = new URL("http://svc/v1/seal/invoke");
