/** `token ls`: enrollment tokens, newest first, without their texts. */
import { defineVerb, serviceFlags } from "../command/verb.ts";
import { connect } from "../service/connect.ts";

interface Token {
  readonly id: string;
  readonly name: string | null;
  readonly status: string;
  readonly tags: readonly string[];
  readonly issued_by: string;
  readonly expires_at: string;
  readonly node_id: string | null;
}

export const verb = defineVerb({
  usage: "[--status STATUS]",
  flags: {
    ...serviceFlags,
    status: { kind: "text", value: "STATUS", meaning: "outstanding, redeemed, expired or revoked" },
  },
  positions: [0, 0],
  async run(invocation) {
    const { flags, output } = invocation;
    const query = flags.status === null ? [] : ([["status", flags.status]] as const);
    const tokens = await connect(invocation).list<Token>("/v1/edge/enrollment-tokens", query);
    output.json({ items: tokens });
    output.table(
      ["ID", "STATUS", "NAME", "TAGS", "EXPIRES", "ISSUED BY", "HOST"],
      tokens.map(({ id, status, name, tags, expires_at, issued_by, node_id }) => [
        ...[id, status, name, tags, expires_at],
        ...[issued_by, node_id],
      ]),
    );
    return "ok";
  },
});
