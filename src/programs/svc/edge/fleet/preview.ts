/** `fleet preview`: which hosts a target means now, and in which waves; nothing is run. */
import { usageFailure } from "../command/exit.ts";
import { defineVerb, serviceFlags } from "../command/verb.ts";
import { connect } from "../service/connect.ts";
import { targetOf } from "./order.ts";
import { policyFlags, policyOf } from "./policy.ts";

interface Previewed {
  readonly node_id: string;
  readonly name: string;
  readonly status?: string;
  readonly reason?: string;
}
interface Preview {
  readonly resolved: readonly Previewed[];
  readonly queued: readonly Previewed[];
  readonly skipped: readonly Previewed[];
  readonly count: number;
  readonly requires_approval: boolean;
  readonly waves: readonly (readonly string[])[];
}

export const verb = defineVerb({
  usage: "<target>",
  flags: { ...serviceFlags, ...policyFlags },
  positions: [1, 64],
  async run(invocation) {
    const { flags, output, positions } = invocation;
    const { target, left } = targetOf(positions);
    if (left.length > 0) throw usageFailure(`${left.join(" ")} is no part of a target`);
    const body = { target, policy: { mode: "Parallel", ...policyOf(flags, null) } };
    // Nothing is stored: it may be asked again.
    const options = { body, idempotencyKey: crypto.randomUUID() };
    const preview = await connect(invocation).call<Preview>("POST", "/v1/edge/fleet/preview", options);
    const waveOf = new Map(preview.waves.flatMap((wave, at) => wave.map((id) => [id, String(at + 1)] as const)));
    const rows = [
      ...preview.resolved.map(({ name, node_id: id, status }) => [name, id, waveOf.get(id) ?? null, status]),
      ...preview.queued.map(({ name, node_id: id }) => [name, id, null, "waited for"]),
      ...preview.skipped.map(({ name, node_id: id, reason }) => [name, id, null, `skipped: ${reason}`]),
    ];
    output.json(preview);
    output.table(["NAME", "ID", "WAVE", "STATUS"], rows);
    const approval = preview.requires_approval ? "; another person must approve" : "";
    output.line(`${preview.count} of ${rows.length} hosts, ${preview.waves.length} waves${approval}`);
    return "ok";
  },
});
