/**
 * `spec.context`: what is loaded when a run begins, and stays the same for all of its iterations.
 *
 * An item that cannot be had is left out with a warning; the run goes on. Files are read as the agent itself may
 * read them, addresses only where its network policy lets it go.
 */

import { fileURLToPath } from "node:url";
import type { ContextItem, NetworkSpec } from "../../../../../actors/agent/manifest/spec.ts";
import { execution } from "../../../../../actors/execution/execution.ts";
import { executionProtocol } from "../../../../../actors/execution/messages.ts";
import { contextLog, type Plan, type Warning } from "../../../../../actors/execution/start/plan.ts";
import { wholeCharacters } from "../../../../../actors/kernel/text.ts";
import { EgressFailed, EgressRefused, type GuardedOptions, guardedFetch } from "../../../../adapters/egress/port.ts";
import { BudgetExceeded } from "../../../../lib/guarded/child.ts";
import { runGuarded } from "../../../../lib/guarded/guarded.ts";
import type { ActivityContext, Address, Runtime } from "../../../../runtime/port.ts";
import type { ViewSpec } from "../../../tools/fs/port.ts";
import { textOf } from "../../../tools/fs/port.ts";
import type { ToolOutcome } from "../../../tools/port.ts";
import type { ExecutionReferences } from "../../references/references.ts";
import type { ContextJob, ContextText } from "./context-program.ts";

export interface ContextSources {
  readonly tenant: string;
  /** What the agent sees of its volumes, once it is needed. */
  readonly view: () => Promise<ViewSpec>;
  /** Null allows nothing, as mode `none` does. */
  readonly network: NetworkSpec | null;
  readonly outside: GuardedOptions;
  readonly signal: AbortSignal;
}

export interface LoadedContext {
  readonly text: string;
  /** One for all items that are missing, one for all that were cut. */
  readonly warnings: readonly Warning[];
}

const program = fileURLToPath(new URL("./context-program.ts", import.meta.url));
const maxItemBytes = 262_144;
const maxTotalBytes = 1_048_576;
const readBudgetMs = 10_000;
const fetchBudgetMs = 20_000;
/** For all items together; what is not there by then is missing. */
const totalBudgetMs = 60_000;
/** Items loaded at once. */
const together = 8;
const maxMessageCharacters = 4000;

/** An item that is not to be had; the message says why. */
class Unavailable extends Error {
  override readonly name = "Unavailable";
}

/** @throws the signal's reason when it is aborted; nothing else */
export async function loadContext(items: readonly ContextItem[], sources: ContextSources): Promise<LoadedContext> {
  const signal = AbortSignal.any([sources.signal, AbortSignal.timeout(totalBudgetMs)]);
  const missing: string[] = [];
  const cut: string[] = [];
  const blocks: { readonly at: string; readonly text: string }[] = [];
  for (let first = 0; first < items.length; first += together) {
    const loaded = await Promise.all(
      items.slice(first, first + together).map((item) =>
        load(item, { ...sources, signal }).catch((error: unknown) => {
          sources.signal.throwIfAborted();
          return error instanceof Unavailable ? error.message : "cannot be loaded";
        }),
      ),
    );
    loaded.forEach((found, index) => {
      const at = `spec.context.${first + index}`;
      const item = items[first + index];
      if (typeof found === "string" || item === undefined) missing.push(`${at}: ${found}`);
      else {
        if (found.truncated) cut.push(`${at}: cut to 256 KiB`);
        blocks.push({ at, text: blockOf(item, found.text) });
      }
    });
  }
  const text = joined(blocks, cut);
  return { text, warnings: [...warning("context_unavailable", missing), ...warning("context_truncated", cut)] };
}

export interface ContextOptions {
  readonly runtime: Pick<Runtime, "of">;
  readonly outside: GuardedOptions;
  readonly view: (plan: Plan) => Promise<ViewSpec>;
  readonly maskerOf: ExecutionReferences["maskerOf"];
}

/** `{{context}}` of an execution: read from its log, or loaded and put there. The volumes have to be there. */
export function contextTexts({ runtime, outside, view, maskerOf }: ContextOptions) {
  return async ({ actor, signal, of }: ActivityContext, plan: Plan): Promise<string> => {
    if (plan.context.length === 0) return "";
    const kept = await keptText(runtime, actor);
    if (kept !== null) return kept;
    // Written by the start from a checked manifest.
    const items = plan.context as unknown as readonly ContextItem[];
    const loaded = await loadContext(items, {
      tenant: actor.tenant,
      view: () => view(plan),
      network: plan.network,
      outside,
      signal,
    });
    const { text, warnings } = (await maskerOf(actor))?.maskJson(loaded) ?? loaded;
    const told = { text, warnings: warnings.map((one) => ({ ...one })) };
    const reply = await of(executionProtocol).ask("context_loaded", told);
    return (reply.kept ? await keptText(runtime, actor) : null) ?? text;
  };
}

async function keptText(runtime: Pick<Runtime, "of">, { tenant, key }: Address): Promise<string | null> {
  const [first] = await runtime.of(execution).at(tenant, key).log(contextLog, 0, 1);
  return first?.entry.text ?? null;
}

function load(item: ContextItem, sources: ContextSources): Promise<ContextText> {
  if (item.type === "text") return Promise.resolve({ text: item.content, truncated: false });
  return item.type === "url" ? fetched(item.url, sources) : read(item.type, item.path, sources);
}

async function read(
  kind: "file" | "directory",
  path: string,
  { tenant, view, signal }: ContextSources,
): Promise<ContextText> {
  const job: ContextJob = { view: await view(), path, kind, maxBytes: maxItemBytes };
  try {
    const outcome = (await runGuarded(program, job, {
      kind: "walk",
      tenant,
      budgetMs: readBudgetMs,
      signal,
      durable: true,
    })) as ToolOutcome;
    if (outcome.status !== "succeeded") throw new Unavailable(outcome.message);
    // The program that reads the context is svc's own, and this is what it writes.
    return outcome.result as unknown as ContextText;
  } catch (error) {
    if (error instanceof BudgetExceeded) throw new Unavailable(`${path} takes too long to read`);
    throw error;
  }
}

async function fetched(url: string, { network, outside, signal }: ContextSources): Promise<ContextText> {
  const { host } = new URL(url);
  try {
    const { status, body, truncated } = await guardedFetch(
      {
        url,
        method: "GET",
        headers: { Accept: "text/*, application/json, */*;q=0.5", "User-Agent": "svc" },
        timeoutMs: fetchBudgetMs,
        maxBytes: maxItemBytes,
        network,
        reach: "listed",
        signal,
      },
      outside,
    );
    if (status < 200 || status > 299) throw new Unavailable(`${host} answered with status ${status}`);
    const text = textOf(truncated ? body.subarray(0, wholeCharacters(body)) : body);
    if (text === null) throw new Unavailable(`${host} gave no UTF-8 text`);
    return { text, truncated };
  } catch (error) {
    if (error instanceof EgressRefused || error instanceof EgressFailed) throw new Unavailable(error.message);
    throw error;
  }
}

/** An item as it stands in the prompt: where it is from, what it is for, what it says. */
function blockOf(item: ContextItem, text: string): string {
  const from = item.type === "text" ? null : `## ${item.type === "url" ? item.url : item.path}`;
  const head = [from, item.description].filter((line) => line !== null && line !== "").join("\n");
  return head === "" ? text : `${head}\n\n${text}`.trimEnd();
}

/** Blocks in their order up to the total; the one that crosses it is cut, later ones are left out. */
function joined(blocks: readonly { readonly at: string; readonly text: string }[], cut: string[]): string {
  const pieces: string[] = [];
  let room = maxTotalBytes;
  for (const { at, text } of blocks) {
    const bytes = Buffer.from(text);
    const fits = bytes.length <= room;
    if (!fits) cut.push(`${at}: cut, all items together may have 1 MiB`);
    const rest = bytes.subarray(0, Math.max(0, room));
    if (fits) pieces.push(text);
    else if (rest.length > 0) pieces.push(rest.subarray(0, wholeCharacters(rest)).toString());
    room -= bytes.length + 2;
  }
  return pieces.join("\n\n");
}

function warning(code: string, reasons: readonly string[]): Warning[] {
  return reasons.length === 0
    ? []
    : [{ code, message: reasons.join("; ").slice(0, maxMessageCharacters).toWellFormed() }];
}
