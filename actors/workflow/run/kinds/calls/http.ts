/**
 * Http: one request to a service outside, whose answer has to be as the state expects. Every attempt at it carries the
 * same `Idempotency-Key`. Secrets are put into the headers when the request is sent, and stand nowhere else.
 */
import type { Json } from "../../../../kernel/json.ts";
import { isReference } from "../../../../manifest/references.ts";
import { listedByUrl } from "../../../../policy/network/policy.ts";
import { type HttpCall, httpCall } from "../../activities/http-call.ts";
import { placeOf, runIdOf } from "../../calling.ts";
import { type KindOfState, StateFault, type StateOf, type StateResult } from "../../kind.ts";
import { httpId } from "../../relevance.ts";
import { settle } from "../../settling.ts";
import { maxRenderedBytes, type RunTurn } from "../../turn.ts";
import { renderArguments } from "./arguments.ts";

const defaultTimeoutMs = 30_000;

export const httpKind: KindOfState<"Http"> = {
  enter(run, state) {
    const { entry, attempt = 1 } = run.current;
    const activity = httpId(run.id, entry, attempt);
    run.perform(httpCall, requestOf(run, state), { id: activity, then: "http_answered" });
    run.work({ of: "http", activity, since: run.now });
  },

  leave(run) {
    const { work } = run.current;
    if (work.of === "http") run.abandon(work.activity);
  },

  overdue(run) {
    const { work } = run.current;
    const duration_ms = work.of === "http" ? run.now - work.since : 0;
    return { ...unanswered, duration_ms, error: "timeout", timed_out: true };
  },

  httpAnswered(run, outcome) {
    const { since } = run.workOf("http");
    if (outcome.ok) {
      const { error, message, ...answer } = outcome.value;
      settle(run, { status: error === null ? "success" : "failed", ...answer, ...failure(error, message) });
      return;
    }
    const { code, message } = outcome;
    settle(run, { ...unanswered, duration_ms: run.now - since, error: code, message });
  },
};

const unanswered = { status: "failed", http_status: null, headers: {}, body: null };

function failure(error: string | null, message: string | null): Omit<StateResult, "status"> {
  if (error === null) return {};
  return { error, ...(message === null ? {} : { message }), ...(error === "timeout" ? { timed_out: true } : {}) };
}

/** @throws StateFault, TemplateError */
function requestOf(run: RunTurn, state: StateOf<"Http">): HttpCall {
  const url = run.render(state.url).trim();
  if (url === "") throw new StateFault("template_resolved_empty", "The URL is empty");
  // References are recognised in the manifest alone: what a template makes is plain text.
  const secrets = Object.keys(state.headers).filter((name) => isReference(state.headers[name] ?? ""));
  const headers = Object.entries(state.headers).map(([name, template]) => {
    return [name, secrets.includes(name) ? template : headerText(run.render(template))] as const;
  });
  return {
    url,
    listed: [...listedByUrl(state.url).allowlist],
    method: state.method,
    headers: Object.fromEntries(headers),
    secrets,
    body: bodyOf(run, state.body),
    workflow_name: run.state.header.workflow_name,
    run_id: runIdOf(run),
    idempotency_key: keyOf(run),
    timeout_ms: state.timeout_ms ?? defaultTimeoutMs,
    expect: state.expect,
  };
}

/** `<run>:<state>:<visit>`, and the index of the item in a Map. */
function keyOf(run: RunTurn): string {
  const { state_name, visit } = placeOf(run);
  const index = run.state.header.batch === undefined ? "" : `:${run.focus ?? ""}`;
  return `${runIdOf(run)}:${state_name}:${visit}${index}`;
}

/** A text as it is rendered, other values as JSON; null: none. */
function bodyOf(run: RunTurn, body: Json): string | null {
  if (body === null) return null;
  if (typeof body === "string") return run.render(body);
  const text = JSON.stringify(renderArguments(run, body));
  if (Buffer.byteLength(text) <= maxRenderedBytes) return text;
  throw new StateFault("template_value_invalid", `The body has more than ${maxRenderedBytes} bytes`);
}

/** @throws StateFault for what no header can carry */
function headerText(text: string): string {
  if (!/[^\t\x20-\x7e\x80-\xff]/.test(text)) return text;
  throw new StateFault("template_value_invalid", "A header holds more than plain text");
}
