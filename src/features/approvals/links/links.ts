/**
 * Decision links: the holder of one may decide once, without an account. Looking at it decides nothing, so that mail
 * scanners do no harm. Programs get JSON, browsers a page.
 */
import { Type } from "@sinclair/typebox";
import { approvalSummary, PendingApproval, pendingApproval } from "../../../../actors/approval/record.ts";
import type { Identity } from "../../../../actors/identity/identity.ts";
import { Problem } from "../../../../actors/kernel/problem.ts";
import { media, reply } from "../../../http/answer.ts";
import { bodyChecker } from "../../../http/input/input.ts";
import { definePublicRoute, type Incoming, type RawContent, type Route, rawBody } from "../../../http/route.ts";
import { requireActive, type Tenants } from "../../../identity/tenants/tenants.ts";
import type { Address } from "../../../runtime/port.ts";
import { deciderOf, sourceOf } from "../caller.ts";
import { DecisionBody, LinkDecisionBody } from "../schema.ts";
import { type Approvals, linkExpired } from "../service.ts";
import { checkTexts } from "../text-checks.ts";
import { linkHeaders, messagePage, outcomePage, questionPage } from "./link-page.ts";
import { tokenPattern } from "./token.ts";

const form = "application/x-www-form-urlencoded";
/** What no token looks like is as unknown as any other. */
const Token = Type.Object({
  token: Type.String({
    pattern: tokenPattern,
    "x-code": "approval_not_found",
    "x-message": "There is no such approval",
  }),
});
const checkBody = bodyChecker(LinkDecisionBody);

/** @param identify who sends a request that carries a good bearer token besides the link; null for all others */
export function approvalLinkRoutes(
  approvals: Approvals,
  identify: (request: Request) => Promise<Identity | null>,
  tenants: Pick<Tenants, "status">,
): readonly Route[] {
  const callerOf = async ({ request }: Pick<Incoming, "request">, { tenant }: Pick<Address, "tenant">) => {
    const identity = await identify(request);
    return identity === null ? null : deciderOf(identity, tenant);
  };
  /** @throws Problem 403 where the tenant is suspended or deleted, 404 */
  const behindLink = async (token: string): Promise<Address> => {
    const at = await approvals.behindLink(token);
    requireActive((await tenants.status(at.tenant)) ?? "active");
    return at;
  };
  return [
    definePublicRoute({
      method: "GET",
      path: "/v1/approval-links/:token",
      tag: "human-approvals",
      summary: "What a decision link asks about; nothing is decided",
      params: Token,
      responses: { 200: Type.Union([Type.Object({ approval: PendingApproval }), media("text/html")]) },
      refusals: ["approval_not_found", "link_expired", "tenant_suspended", "tenant_deleted"],
      handler: ({ request, params: { token } }) =>
        answering(request, async () => {
          const at = await behindLink(token);
          const { state, isGood } = await approvals.askedByLink(at, token);
          if (isGood) {
            const approval = pendingApproval(at.key, at.tenant, state);
            return isForBrowser(request) ? questionPage(approval) : reply(200, { approval }, linkHeaders);
          }
          if (isForBrowser(request)) return outcomePage(410, approvalSummary(at.key, at.tenant, state));
          throw linkExpired();
        }),
    }),
    definePublicRoute({
      method: "POST",
      path: "/v1/approval-links/:token",
      tag: "human-approvals",
      summary: "Decide by a link, once",
      params: Token,
      body: rawBody({ accepts: ["application/json", form], limit: 256 * 1024, schema: LinkDecisionBody }),
      responses: { 200: Type.Union([DecisionBody, media("text/html")]) },
      refusals: [
        "validation_failed",
        "approver_not_allowed",
        "approval_not_found",
        "approval_already_decided",
        "arguments_changed",
        "link_expired",
        "tenant_suspended",
        "tenant_deleted",
      ],
      handler: (call) =>
        answering(call.request, async () => {
          const { token } = call.params;
          const { decision, feedback = null, reason = null, arguments_sha256: seen = null } = readDecision(call.body);
          const at = await behindLink(token);
          const answer = { decision, feedback, reason, seen };
          const decide = async () =>
            approvals.decideByLink(at, token, await callerOf(call, at), answer, sourceOf(call));
          if (!isForBrowser(call.request)) return reply(200, await decide(), linkHeaders);
          // Of a decision that came too late a person is told what was decided instead.
          const status = await decide().then(() => 200, lateStatus);
          const { state } = await approvals.askedByLink(at, token);
          return outcomePage(status, approvalSummary(at.key, at.tenant, state));
        }),
    }),
  ];
}

/** The status of a decision that changed nothing, because there was one already. @throws any other error */
function lateStatus(error: unknown): number {
  const isChanged = error instanceof Problem && error.code === "arguments_changed";
  if (error instanceof Problem && (error.status === 409 || error.status === 410) && !isChanged) return error.status;
  throw error;
}

/** @throws Problem 400 for what is no JSON, 422 for anything else that is wrong */
function readDecision(body: RawContent): LinkDecisionBody {
  const fields = body.mediaType === form ? formFields(body.text()) : parsed(body.text());
  const decision = checkBody(fields);
  const { feedback, reason } = decision;
  if (decision.decision === "reject") checkTexts({ feedback, reason }, "reason");
  else checkTexts({ feedback, reason });
  return decision;
}

/** A browser sends every field of a form; one left empty says nothing. */
function formFields(text: string): Record<string, string> {
  return Object.fromEntries([...new URLSearchParams(text)].filter(([, value]) => value !== ""));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Problem("malformed_body", "The body is not valid JSON");
  }
}

/** A refusal of what a person follows with a browser is a page as well. */
async function answering<T>(request: Request, work: () => Promise<T>): Promise<T | Response> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (isForBrowser(request)) return messagePage(error.status, error.message);
    throw new Problem(error.code, error.message, error.extras, { ...error.headers, ...linkHeaders }, error.status);
  }
}

/** Browsers name HTML; callers that take any type get JSON. */
const isForBrowser = (request: Request): boolean => /\btext\/html\b/i.test(request.headers.get("accept") ?? "");
