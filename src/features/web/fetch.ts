/** `web.fetch`: one page of the public web, through the egress guard. */
import { fileURLToPath } from "node:url";
import type { NetworkSpec } from "../../../actors/agent/manifest/spec.ts";
import { wholeCharacters } from "../../../actors/kernel/text.ts";
import { domainAllowed } from "../../../actors/policy/security/domains.ts";
import { EgressFailed, EgressRefused, type GuardedOptions, guardedFetch } from "../../adapters/egress/port.ts";
import { BudgetExceeded, ChildEnded } from "../../lib/guarded/child.ts";
import { runGuarded } from "../../lib/guarded/guarded.ts";
import { ToolFailure, ToolRefusal, type ToolRequest } from "../tools/port.ts";
import { type Content, contentOf } from "./content.ts";
import type { PageJob, PageText } from "./page.ts";
import { FetchArguments, readArguments } from "./schema.ts";

export interface FetchParts {
  readonly outside: GuardedOptions;
  /** SVC_WEB_FETCH_MAX_BYTES */
  readonly maxBytes: number;
  /** SVC_WEB_FETCH_PORTS, beside 80 and 443. */
  readonly ports: readonly number[];
  /** `spec.security.network` of an execution's agent; null: nothing is listed. */
  readonly networkOf: (tenant: string, executionId: string) => Promise<NetworkSpec | null>;
  readonly now: () => number;
}

/** Where a call led that is not made. */
interface Blocked {
  readonly host: string;
  readonly port: number;
  readonly reason: string;
}

const program = fileURLToPath(new URL("./page-program.ts", import.meta.url));
/** Characters of a page that are turned into markdown; the rest is left out. */
const maxPageCharacters = 1_024 * 1_024;
const pageBudgetMs = 3_000;
const usualPorts: readonly number[] = [80, 443];

/** @throws ToolRefusal 2004 for where it may not go, ToolFailure */
export async function fetchPage(parts: FetchParts, request: ToolRequest) {
  const given = readArguments("web.fetch", FetchArguments, request.arguments);
  const { tenant, executionId, bounds, signal } = request;
  const network = executionId === null ? null : await parts.networkOf(tenant, executionId);
  const block = (blocked: Blocked): never => {
    throw addressBlocked(blocked);
  };
  const admit = (url: URL): void => {
    const { protocol, hostname: host, username, password } = url;
    const port = url.port === "" ? (protocol === "https:" ? 443 : 80) : Number(url.port);
    if (protocol !== "http:" && protocol !== "https:") block({ host, port, reason: "scheme_not_allowed" });
    if (username !== "" || password !== "") block({ host, port, reason: "user_info" });
    if (![...usualPorts, ...parts.ports].includes(port)) block({ host, port, reason: "port_not_allowed" });
    if (!bounds.domainRules.every((rule) => domainAllowed(rule, url.href))) throw domainNotAllowed(url.href);
  };
  if (!URL.canParse(given.url)) throw new ToolFailure("invalid_arguments", "web.fetch: url is no address");
  try {
    const { status, headers, body, truncated, url, redirects } = await guardedFetch(
      {
        url: given.url,
        method: "GET",
        headers: { Accept: "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1", "User-Agent": "svc" },
        timeoutMs: timeoutOf(parts, request, given.timeout_secs) * 1000,
        maxBytes: parts.maxBytes,
        network,
        reach: "lists",
        alsoListed: bounds.domainRules.flat(),
        admit,
        follow: given.follow_redirects,
        signal,
      },
      parts.outside,
    );
    const type = headers.get("content-type") ?? "";
    const found = contentOf(type, body, truncated);
    if (found === null) {
      throw new ToolFailure("unsupported_content_type", `The answer is no text: ${type.slice(0, 100) || "no type"}`, {
        http_status: status,
        content_type: type.slice(0, 200),
      });
    }
    const shown = given.to_markdown && found.format === "html" ? await asMarkdown(found, url, request) : found;
    const { content, isCut } = cut(shown.text, bounds.maxResponseBytes);
    return {
      url,
      requested_url: given.url,
      http_status: status,
      content_type: type.slice(0, 200),
      content_length: body.length,
      content_format: shown.format,
      content,
      redirects: [...redirects],
      truncated: truncated || shown.isCut || isCut,
    };
  } catch (error) {
    if (error instanceof EgressRefused) throw refusalOf(error, given.url, block);
    if (error instanceof EgressFailed) {
      signal.throwIfAborted();
      throw new ToolFailure(error.code === "timeout" ? "timeout" : "upstream_error", error.message);
    }
    throw error;
  }
}

/** Seconds: what was asked for, within what the caller's policy and deadline leave. */
function timeoutOf({ now }: FetchParts, { bounds, who }: ToolRequest, asked: number): number {
  const deadline = who.execution?.deadlineAt ?? null;
  const left = deadline === null ? asked : Math.floor((deadline - now()) / 1000);
  return Math.max(1, Math.min(asked, bounds.maxTimeoutSecs, left));
}

/** What the manifest's lists say is about domains; all else is about what no call may reach. */
const ofLists: readonly string[] = ["denylisted", "not_allowlisted", "no_network", "port_not_allowed"];

function refusalOf({ reason, host, port }: EgressRefused, url: string, block: (blocked: Blocked) => never) {
  return ofLists.includes(reason) ? domainNotAllowed(url) : block({ host, port, reason });
}

function domainNotAllowed(url: string): ToolRefusal {
  const message = `web.fetch may not call ${hostOf(url)}`;
  return new ToolRefusal(2004, "domain_not_allowed", "domain_not_allowed", message, url);
}

/** On record it is the incident `ssrf_blocked`. */
function addressBlocked({ host, port, reason }: Blocked): ToolRefusal {
  const message = `web.fetch calls public addresses only, not ${host} (${reason})`;
  return new ToolRefusal(2004, "address_blocked", "address_blocked", message, `${host}:${port}`);
}

const hostOf = (url: string): string => URL.parse(url)?.host ?? url;

/** A page that cannot be turned stays what it is. */
async function asMarkdown(found: Content, url: string, { tenant, signal }: ToolRequest): Promise<Content> {
  const html = found.text.slice(0, maxPageCharacters);
  const isCut = found.isCut || html.length < found.text.length;
  const job: PageJob = { html, url };
  try {
    const { markdown } = (await runGuarded(program, job, {
      kind: "computation",
      tenant,
      budgetMs: pageBudgetMs,
      signal,
      durable: true,
    })) as PageText;
    return { format: "markdown", text: markdown, isCut };
  } catch (error) {
    if (error instanceof BudgetExceeded || error instanceof ChildEnded) return found;
    throw error;
  }
}

function cut(text: string, maxBytes: number): { readonly content: string; readonly isCut: boolean } {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return { content: text, isCut: false };
  const rest = bytes.subarray(0, maxBytes);
  return { content: rest.subarray(0, wholeCharacters(rest)).toString(), isCut: true };
}
