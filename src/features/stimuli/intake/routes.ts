/** Where stimuli come in: posted by callers of the API, and delivered to webhooks. */
import { Type } from "@sinclair/typebox";
import { matterOf } from "../../../../actors/stimulus/fitting.ts";
import { reply } from "../../../http/answer.ts";
import { prefersAsync } from "../../../http/preferences.ts";
import {
  definePublicRoute,
  defineRoute,
  jsonBody,
  type OpenCall,
  type Route,
  type TellRates,
} from "../../../http/route.ts";
import { Handshake } from "../sources/feature.ts";
import type { Sources } from "../sources/port.ts";
import { arrivalOf } from "./api-stimulus.ts";
import type { Filter } from "./filter.ts";
import type { Intake, IntakeAnswer } from "./intake.ts";
import type { Drain } from "./processing/drain.ts";
import { IgnoredAnswer, Received, Routed, StimulusBody, StimulusHeaders, WebhookHeaders } from "./schema.ts";
import type { Deliver } from "./webhooks.ts";

export interface IntakeRouteOptions {
  readonly intake: Intake;
  readonly deliver: Deliver;
  readonly filter: Filter;
  readonly sourceOf: Sources["sourceOf"];
  /**
   * Told of every delivery under way, so that what runs in the background makes room.
   * @throws Problem 503 when the node leaves before the work is done
   */
  readonly underWay: Drain;
  /** How a caller stands with starts of runs. */
  readonly rates: TellRates;
}

/** JSON may spell every byte of a content with six. */
const maxBodyBytes = 6 * 1_048_576 + 64 * 1024;
/** Seconds: a classification takes 120 at most, a repeat waits 35 before. */
const timeoutSeconds = 170;

/** What a caller of the API sends with a stimulus is no part of it. */
const noHeaders = new Headers();

/** As the sender writes it; signed as bytes. */
const Payload = Type.Unknown({ examples: [{ ref: "refs/heads/main", after: "9fceb02" }] });

/** Which names a source may have is checked first of all when a message is taken in. */
const Source = Type.String({ "x-code": "invalid_source", "x-message": "This is no name of a source" });

export function intakeRoutes({ intake, deliver, filter, sourceOf, underWay, rates }: IntakeRouteOptions): Route[] {
  const hook = {
    method: "POST",
    tag: "webhooks",
    headers: WebhookHeaders,
    takes: { "application/json": Payload, "*/*": Type.String({ format: "binary" }) },
    responses: { 200: Type.Union([Routed, Handshake, IgnoredAnswer]), 202: Received },
    timeoutSeconds,
    refusals: [
      "body_too_large",
      "validation_failed",
      "not_found",
      "colony_suspended",
      "tenant_suspended",
      "tenant_deleted",
      "malformed_signature",
      "body_read_error",
      "missing_signature",
      "secret_not_found",
      "secrets_unavailable",
      "invalid_signature",
      "route_disabled",
      "webhook_endpoint_not_found",
      "idempotent_duplicate",
      "ambiguous_webhook_route",
      "unknown_workflow",
      "no_router_configured",
      "classification_failed",
      "classification_parse_error",
      "router_agent_failed",
      "rate_limited",
      "workflow_error",
      "decryption_failed",
      "stimulus_service_unavailable",
      "limiter_unavailable",
      "backlog_full",
    ],
  } as const;
  const deliverTo = async (call: OpenCall<unknown, unknown, unknown>, path: Parameters<Deliver>[1]) => {
    const delivered = await underWay(() => deliver(call, path), call.stopping);
    if ("nothingStored" in delivered) return reply(200, delivered.nothingStored);
    return answered(delivered, call.request.headers);
  };
  return [
    defineRoute({
      method: "POST",
      path: "/v1/stimuli",
      summary: "Post a stimulus, which starts at most one run of a workflow",
      scope: "stimulus:ingest",
      rates,
      headers: StimulusHeaders,
      body: jsonBody(StimulusBody, { limit: maxBodyBytes }),
      responses: { 200: Type.Union([Routed, IgnoredAnswer]), 202: Received },
      timeoutSeconds,
      refusals: [
        "idempotent_duplicate",
        "unknown_workflow",
        "no_router_configured",
        "classification_failed",
        "classification_parse_error",
        "router_agent_failed",
        "workflow_error",
        "stimulus_service_unavailable",
        "limiter_unavailable",
        "backlog_full",
      ],
      handler: async ({ body, identity, tenant, stopping, request: { headers } }) => {
        const arrival = await arrivalOf(body, headers, { tenant, identity }, sourceOf);
        const source = arrival.sourceId === null ? null : await sourceOf(tenant, arrival.source);
        const ignored = filter(source, { headers: noHeaders, payload: () => matterOf(arrival).payload });
        if (ignored !== null) return reply(200, ignored);
        return answered(await underWay(() => intake(arrival), stopping), headers);
      },
    }),
    definePublicRoute({
      ...hook,
      path: "/v1/webhooks/:source",
      summary: "Deliver a signed webhook of a source",
      params: Type.Object({ source: Source }),
      handler: (call) => deliverTo(call, { source: call.params.source, sourceId: null }),
    }),
    definePublicRoute({
      ...hook,
      path: "/v1/webhooks/:source/:route_id",
      summary: "Deliver a signed webhook to one source route",
      params: Type.Object({ source: Source, route_id: Type.String() }),
      handler: (call) => deliverTo(call, { source: call.params.source, sourceId: call.params.route_id }),
    }),
  ];
}

function answered(taken: IntakeAnswer, headers: Headers) {
  if (taken.status === 200) return reply(200, taken.body, taken.headers);
  const applied = prefersAsync(headers) ? { "Preference-Applied": "respond-async" } : {};
  return reply(202, taken.body, { ...taken.headers, ...applied });
}
