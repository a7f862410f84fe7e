/** `POST /v1/dispatch-gateway`: where an agent's bootstrap asks for the next word and reports what it did. */

import { createHash } from "node:crypto";
import { Type } from "@sinclair/typebox";
import { execution } from "../../../actors/execution/execution.ts";
import { conversationOf } from "../../../actors/execution/loop/conversation.ts";
import { placesOf } from "../../../actors/execution/loop/waiting/wait-state.ts";
import {
  type ChatMessage,
  type Dispatch,
  type DispatchPlaces,
  type Final,
  type GatewayAnswer,
  LoopEntry,
} from "../../../actors/execution/messages.ts";
import { defineLog } from "../../../actors/kernel/effect.ts";
import { invalid, Problem, type ProblemCode } from "../../../actors/kernel/problem.ts";
import { type Reply, reply } from "../../http/answer.ts";
import { bodyChecker } from "../../http/input/input.ts";
import { definePublicRoute, isUuid, jsonBody, type PublicCall, type Route } from "../../http/route.ts";
import type { Masker } from "../../lib/masking/masker.ts";
import { type Address, AskTimeout, type Runtime } from "../../runtime/port.ts";
import { type ExecutionIdentity, type ExecutionTokens, identify } from "../execution-tokens/port.ts";
import { readLog } from "../executions/port.ts";
import { HiddenOutput } from "./hidden-output.ts";
import { OutputBudget } from "./output-budget.ts";
import type { CommandPlaces } from "./places.ts";
import { DispatchOutputBody, DispatchResultBody, GatewayMessage, GenerateBody } from "./schema.ts";

export interface GatewayOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly tokens: Pick<ExecutionTokens, "verify">;
  readonly servesModel: (alias: string) => boolean;
  /** SVC_DISPATCH_MAX_BODY_BYTES */
  readonly maxBodyBytes: number;
  /** False: a message without a token is taken for what it says it is. */
  readonly tokenRequired: boolean;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** The tenant of an execution, for messages without a token; null when there is none such. */
  readonly tenantOf: (executionId: string) => Promise<string | null>;
  /** What hides the values that an execution was given; null: it was given none. */
  readonly maskerOf: (execution: Address) => Promise<Masker | null>;
  readonly places: CommandPlaces;
}

/**
 * The longest that one request waits, ms: as long as a bootstrap of the usual `llm_timeout_seconds`, which then comes
 * again by itself. What takes longer, a model or an approval, is joined by the next request: the refusal is the one that
 * bootstraps repeat without end.
 */
const answerWithinMs = 330_000;

/** Pieces of output in one message to the execution. */
const piecesAtOnce = 64;

const stillAtWork = () =>
  new Problem("service_unavailable", "The answer is not there yet: ask again", {}, { "Retry-After": "1" });

const checkGenerate = bodyChecker(GenerateBody);
const checkResult = bodyChecker(DispatchResultBody);
const checkOutput = bodyChecker(DispatchOutputBody);

type GatewayCall = PublicCall<unknown, unknown, unknown, ExecutionIdentity | null>;

const refusals = [
  "missing_authorization",
  "invalid_authorization_header",
  "invalid_token",
  "token_expired",
  "agent_mismatch",
  "execution_not_found",
  "dispatch_not_found",
  "execution_not_running",
  "iteration_not_current",
  "loop_not_active",
  "dispatch_result_conflict",
  "tool_round_limit",
  "dispatch_expired",
  "validation_failed",
  "unknown_model_alias",
  "unknown_message_type",
  "llm_quota_exceeded",
  "limiter_unavailable",
  "upstream_rate_limit",
  "upstream_authentication",
  "upstream_model_not_found",
  "upstream_invalid_input",
  "upstream_provider",
  "upstream_network",
  "upstream_unavailable",
  "upstream_timeout",
] as const;

export function gatewayRoute(options: GatewayOptions): Route {
  const output = { budget: new OutputBudget(options.now), hidden: new HiddenOutput() };
  return definePublicRoute({
    method: "POST",
    path: "/v1/dispatch-gateway",
    summary: "The exchange of a sandbox instance with its execution",
    prove: (incoming) => identify(options.tokens, incoming, options.tokenRequired),
    tenantOf: (proof) => proof?.tenant ?? null,
    body: jsonBody(Type.Unknown(), { limit: options.maxBodyBytes }),
    responses: { 200: GatewayMessage },
    refusals,
    handler: async (call) => {
      if (typeOf(call.body) === "dispatch_output") return reply(200, await noteOutput(options, call, output));
      const given = await read(options, call);
      const at = await subjectOf(options, call.proof, given.body.execution_id);
      const { type, body } = hiding(await options.maskerOf(at), given);
      const sender = {
        instance_id: call.proof?.instanceId ?? null,
        body_hash: await bodyHash(call.bytes),
        idempotency_key: call.request.headers.get("idempotency-key"),
      };
      // Its command is over, also where its result is refused.
      if (body.type === "dispatch_result") await options.places.giveBack(at, body.dispatch_id);
      const actor = options.runtime.of(execution).at(at.tenant, at.key);
      const askOptions = {
        repeatable: true,
        deadlineMs: answerWithinMs,
        signal: call.request.signal,
      } as const;
      const asked =
        type === "generate"
          ? actor.ask(type, { ...messageOf(body), ...sender }, askOptions)
          : actor.ask(type, { ...messageOf(body), ...sender }, askOptions);
      const answer = await asked.catch(asStillAtWork);
      const handing = { options, at, instanceId: sender.instance_id, askOptions };
      return wire(options.runtime, at, await handedOut(handing, answer));
    },
  });
}

const asStillAtWork = (error: unknown): never => {
  throw error instanceof AskTimeout ? stillAtWork() : error;
};

/** Pauses of a command that waits for its places, ms, and how long it does within one request. */
const placeEveryMs = 500;
const placeWithinMs = 60_000;
/** Seconds after which a place may be free. */
const placeRetrySeconds = 1;

interface Handing {
  readonly options: GatewayOptions;
  readonly at: Address;
  readonly instanceId: string | null;
  readonly askOptions: { readonly repeatable: true; readonly deadlineMs: number; readonly signal: AbortSignal };
}

/**
 * Takes the places of a command before it is handed out. Where there are none the execution is told, which answers with
 * what comes next; one that people have approved waits for them.
 */
async function handedOut(handing: Handing, first: GatewayAnswer): Promise<GatewayAnswer> {
  const { options, at, instanceId, askOptions } = handing;
  let answer = first.status === "replay" ? await inHand(handing, first) : first;
  while (answer.status === "reply" && answer.places !== undefined) {
    const { dispatch_id } = answer.reply;
    const message = await placed(handing, answer.reply, answer.places);
    if (message === null) break;
    const refused = { instance_id: instanceId, dispatch_id, message, retry_after_seconds: placeRetrySeconds };
    answer = await options.runtime
      .of(execution)
      .at(at.tenant, at.key)
      .ask("dispatch_refused", refused, askOptions)
      .catch(asStillAtWork);
  }
  return answer;
}

/**
 * Takes the places of a command. One that people have approved waits for them; its execution is told that it did, since
 * the time that the command may take begins when it is handed out.
 * @returns null, or why it may not run now @throws Problem 503 while it waits
 */
async function placed(
  { options: { places, runtime }, at, instanceId, askOptions: { signal } }: Handing,
  { dispatch_id: dispatchId, timeout_secs: timeoutSeconds }: Dispatch,
  { of, waits }: DispatchPlaces,
): Promise<string | null> {
  const until = performance.now() + placeWithinMs;
  const delayed = () =>
    runtime
      .of(execution)
      .at(at.tenant, at.key)
      .tellCommitted("dispatch_delayed", { instance_id: instanceId, dispatch_id: dispatchId })
      .catch(asStillAtWork);
  for (let tries = 0; ; tries++) {
    const message = await places.take(at, { dispatchId, timeoutSeconds, of });
    if (message === null || !waits) {
      if (tries > 0) await delayed();
      return message;
    }
    if ((await places.awaited(at, dispatchId)) === null) throw stillAtWork();
    if (performance.now() > until || signal.aborted) {
      await delayed();
      throw stillAtWork();
    }
    await Bun.sleep(placeEveryMs);
  }
}

/** A command that is told again was handed out before, perhaps, and runs: it keeps its places, or waits for them as it did. */
async function inHand(handing: Handing, answer: GatewayAnswer & { status: "replay" }): Promise<GatewayAnswer> {
  const { options, at } = handing;
  const [stored] = await readLog(options.runtime, at, defineLog(answer.log, LoopEntry), answer.seq, answer.seq);
  if (stored?.entry.entry !== "dispatch") return answer;
  const { dispatch } = stored.entry;
  const call = await options.places.awaited(at, dispatch.dispatch_id);
  const { places } = call === null ? {} : placesOf(call);
  if (places !== undefined) await placed(handing, dispatch, places);
  return answer;
}

/** Bytes whose hash takes about a millisecond: more are left to another thread. */
const hashedAtOnce = 1_048_576;

async function bodyHash(bytes: Uint8Array): Promise<string> {
  if (bytes.byteLength <= hashedAtOnce) return createHash("sha256").update(bytes).digest("base64url");
  const digest = await crypto.subtle.digest(
    "SHA-256",
    new Uint8Array(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength),
  );
  return Buffer.from(digest).toString("base64url");
}

/** The members of a body that are the execution's business. */
function messageOf<Body extends { readonly type: unknown; readonly execution_id: unknown }>(body: Body) {
  const { type: _, execution_id: __, ...message } = body;
  return message;
}

type Read =
  | { readonly type: "generate"; readonly body: GenerateBody }
  | { readonly type: "dispatch_result"; readonly body: DispatchResultBody };

/** @throws Problem 404 for another tenant's execution, 422 for a malformed message */
async function read(options: GatewayOptions, { body, proof }: GatewayCall): Promise<Read> {
  const type = typeOf(body);
  if (type === "dispatch_result") return { type, body: ours(checkResult(body), proof) };
  if (type !== "generate") {
    throw unusable("unknown_message_type", "type", "must be generate, dispatch_result or dispatch_output");
  }
  const message = ours(checkGenerate(body), proof);
  if (message.prompt === "" && message.messages.length === 0) throw unusable("validation_failed", "prompt", "is empty");
  if (!options.servesModel(message.model_alias)) {
    throw unusable("unknown_model_alias", "model_alias", `no model answers to ${message.model_alias}`);
  }
  return { type: "generate", body: message };
}

const typeOf = (body: unknown): unknown =>
  typeof body === "object" && body !== null ? (body as { readonly type?: unknown }).type : undefined;

/** What an agent says, as its execution gets it: nothing that is committed holds a value that the agent was given. */
function hiding(masker: Masker | null, given: Read): Read {
  if (masker === null) return given;
  if (given.type === "generate") {
    const { prompt, messages } = given.body;
    const shown = { prompt: masker.mask(prompt), messages: messages.map((one) => hiddenMessage(masker, one)) };
    return { type: given.type, body: { ...given.body, ...shown } };
  }
  const { stdout, stderr } = given.body;
  return { type: given.type, body: { ...given.body, stdout: masker.mask(stdout), stderr: masker.mask(stderr) } };
}

/** Its role and the ids of its calls are no text of the agent's. */
function hiddenMessage(masker: Masker, { content, tool_calls: calls, ...message }: ChatMessage): ChatMessage {
  const hidden = { ...message, content: masker.mask(content) };
  if (calls === undefined) return hidden;
  return { ...hidden, tool_calls: calls.map((one) => ({ ...one, arguments: masker.maskJson(one.arguments) })) };
}

/**
 * Passes output of a running command on to its execution. What is above the budget of the instance is left out before
 * it costs the execution a message.
 */
async function noteOutput(
  options: GatewayOptions,
  { body, proof }: GatewayCall,
  { budget, hidden }: { readonly budget: OutputBudget; readonly hidden: HiddenOutput },
): Promise<GatewayMessage> {
  const { execution_id, dispatch_id, chunks } = ours(checkOutput(body), proof);
  const instance = proof?.instanceId ?? null;
  const bytes = chunks.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0);
  if (!budget.take(instance ?? execution_id.toLowerCase(), bytes)) return { type: "output_noted", taken: false };
  const at = await subjectOf(options, proof, execution_id);
  const actor = options.runtime.of(execution).at(at.tenant, at.key);
  const masker = await options.maskerOf(at);
  const told = masker === null ? chunks : hidden.shown(masker, `${at.key} ${dispatch_id}`, chunks);
  for (let from = 0; from < told.length; from += piecesAtOnce) {
    const some = told.slice(from, from + piecesAtOnce);
    await actor.tellCommitted("command_output", { instance_id: instance, dispatch_id, chunks: some });
  }
  return { type: "output_noted", taken: true };
}

/** Ids are compared as UUIDs: letter case does not matter. */
function ours<B extends { execution_id: string }>(body: B, proof: ExecutionIdentity | null): B {
  if (proof !== null && body.execution_id.toLowerCase() !== proof.executionId) throw executionNotFound();
  return body;
}

async function subjectOf(
  options: GatewayOptions,
  proof: ExecutionIdentity | null,
  executionId: string,
): Promise<Address> {
  const key = executionId.toLowerCase();
  const tenant = proof?.tenant ?? (isUuid(key) ? await options.tenantOf(key) : null);
  if (tenant === null) throw executionNotFound();
  return { kind: execution.kind, key, tenant };
}

/** The actor's answer as the bootstrap reads it. */
async function wire(
  runtime: Pick<Runtime, "of">,
  at: Address,
  answer: GatewayAnswer,
): Promise<Reply<200, GatewayMessage>> {
  switch (answer.status) {
    case "reply":
      return reply(200, answer.reply);
    case "final":
      return reply(200, await withConversation(runtime, at, answer.final, answer));
    case "replay":
      return replay(runtime, at, answer);
    case "refused": {
      const { code, message, retry_after, extras = {} } = answer;
      const headers: Record<string, string> =
        retry_after === undefined ? {} : { "Retry-After": String(Math.ceil(retry_after)) };
      throw new Problem(code as ProblemCode, message, extras, headers);
    }
  }
}

interface LogPosition {
  readonly log: string;
  readonly from: number;
  readonly seq: number;
}

async function withConversation(
  runtime: Pick<Runtime, "of">,
  at: Address,
  final: Final,
  { log, from, seq }: LogPosition,
) {
  const entries = await readLog(runtime, at, defineLog(log, LoopEntry), from, seq);
  return { ...final, conversation: conversationOf(entries.map(({ entry }) => entry)) };
}

async function replay(
  runtime: Pick<Runtime, "of">,
  at: Address,
  position: LogPosition,
): Promise<Reply<200, GatewayMessage>> {
  const [stored] = await readLog(runtime, at, defineLog(position.log, LoopEntry), position.seq, position.seq);
  // An execution that ended long ago keeps no log of its loop, so there is no reply left to repeat.
  if (stored === undefined) throw new Problem("execution_not_running", "The execution is not running");
  const { entry } = stored;
  const headers = { "Idempotent-Replay": "true" };
  if (entry.entry === "dispatch") return reply(200, entry.dispatch, headers);
  if (entry.entry === "final") return reply(200, await withConversation(runtime, at, entry.final, position), headers);
  throw new Error(`entry ${position.seq} of ${position.log} is no stored reply`);
}

const executionNotFound = (): Problem => new Problem("execution_not_found", "Execution not found");

const unusable = (code: ProblemCode, path: string, message: string): Problem =>
  invalid(code, `${path}: ${message}`, [{ path, message, code: code === "validation_failed" ? "invalid" : code }]);
