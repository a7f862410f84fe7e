/** The operators' routes of dead letters. Their bodies may hold what tenants sent: what looks like a secret stays here. */

import { Type } from "@sinclair/typebox";
import { redactedArguments } from "../../../actors/approval/redaction.ts";
import type { Json } from "../../../actors/kernel/json.ts";
import { Problem } from "../../../actors/kernel/problem.ts";
import { readTime } from "../../../actors/kernel/time.ts";
import { reply } from "../../http/answer.ts";
import { listOf, listSchema, pageOf } from "../../http/paging.ts";
import { defineRoute, type Route, uuidParam } from "../../http/route.ts";
import type { DeadLetterLine as Line, Runtime } from "../../runtime/port.ts";
import { type Audit, auditedBy } from "../audit/port.ts";
import { DeadLetterBody, DeadLetterLine, DeadLettersQuery, Replayed } from "./schema.ts";

export interface DeadLetterRoutesOptions {
  readonly letters: Runtime["deadLetters"];
  readonly audit: Audit;
}

export function deadLetterRoutes({ letters, audit }: DeadLetterRoutesOptions): readonly Route[] {
  const path = "/v1/admin/dead-letters";
  const tag = "dead letters";
  const params = Type.Object({ id: uuidParam() });
  const unknown = () => new Problem("dead_letter_not_found", "There is no such dead letter");
  return [
    defineRoute({
      method: "GET",
      path,
      tag,
      summary: "Messages whose turn failed for good, newest first",
      operatorsOnly: true,
      scope: "tenant:read",
      query: DeadLettersQuery,
      responses: { 200: listSchema("dead_letters", DeadLetterLine) },
      async handler({ query }) {
        const page = pageOf(query, 2);
        const { tenant_id: tenant, kind, since } = query;
        const filter = {
          ...(tenant === undefined ? {} : { tenant }),
          ...(kind === undefined ? {} : { kind }),
          ...(since === undefined ? {} : { since: readTime("since", since) }),
        };
        const [at = "", id = ""] = page.after ?? [];
        const found = await letters.page(filter, {
          after: page.after === null ? null : [at, id],
          offset: page.offset,
          limit: page.limit + 1,
        });
        const places = new Map(found.map((each) => [each.id, each.place]));
        return listOf("dead_letters", found.map(lineOf), page, (item) => places.get(item.id) ?? []);
      },
    }),
    defineRoute({
      method: "GET",
      path: `${path}/:id`,
      tag,
      summary: "One dead letter with the body of its message",
      operatorsOnly: true,
      scope: "tenant:read",
      params,
      responses: { 200: DeadLetterBody },
      refusals: ["dead_letter_not_found"],
      async handler(call) {
        const letter = await letters.inspect(call.params.id);
        if (letter === null) throw unknown();
        return { ...lineOf(letter), body: withoutSecrets(letter.body) };
      },
    }),
    defineRoute({
      method: "POST",
      path: `${path}/:id/replay`,
      tag,
      summary: "Sends the message again, once; if it fails again, that is a new dead letter",
      operatorsOnly: "operator",
      scope: "workflow:signal",
      params,
      responses: { 202: Replayed },
      refusals: ["dead_letter_not_found", "already_replayed", "invalid_state"],
      async handler(call) {
        const { id } = call.params;
        const letter = await letters.inspect(id);
        if (letter === null) throw unknown();
        if (letter.kind === "") {
          throw new Problem("invalid_state", "Its mailbox entry was damaged: it cannot be sent again");
        }
        const sent = await letters.replay(id, (tx, { tenant, kind, key, type }) =>
          audit.append(tx, auditedBy(call), {
            tenant,
            action: "dead_letter.replayed",
            target: { type: "dead_letter", id },
            details: { actor_kind: kind, actor_key: key, message: type },
          }),
        );
        if (!sent) throw new Problem("already_replayed", "It was sent again already");
        return reply(202, { id, status: "replayed" });
      },
    }),
  ];
}

const lineOf = ({ id, tenant, kind, key, type, error, attempts, created_at, replayed_at }: Line): DeadLetterLine => ({
  id,
  tenant_id: tenant,
  kind,
  key,
  message: type,
  error: String(withoutSecrets(error)),
  attempts,
  created_at,
  replayed_at,
});

const withoutSecrets = (value: Json): Json => redactedArguments({ value }).value ?? null;
