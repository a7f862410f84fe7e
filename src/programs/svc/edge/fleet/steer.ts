/** `fleet cancel`, `pause`, `resume`. */
import { type AnyVerb, defineVerb, serviceFlags } from "../command/verb.ts";
import { connect } from "../service/connect.ts";
import { runIdOf } from "./runs.ts";

interface Steered {
  readonly status: string;
  readonly pause_reasons?: readonly string[];
  readonly cancelled?: number;
}

export const cancel = defineVerb({
  usage: "<run> [--reason TEXT]",
  flags: { ...serviceFlags, reason: { kind: "text", value: "TEXT", meaning: "is kept with the run" } },
  positions: [1, 1],
  async run(invocation) {
    const { flags, output, positions } = invocation;
    const id = runIdOf(positions);
    const options = {
      body: flags.reason === null ? {} : { reason: flags.reason },
      idempotencyKey: crypto.randomUUID(),
    };
    const answer = await connect(invocation).call<Steered>("POST", `/v1/edge/fleet/${id}/cancel`, options);
    output.json(answer);
    output.line(`run ${id} is ${answer.status}; ${answer.cancelled ?? 0} commands are cancelled`);
    return "ok";
  },
});

const steerVerb = (word: "pause" | "resume"): AnyVerb =>
  defineVerb({
    usage: "<run>",
    flags: serviceFlags,
    positions: [1, 1],
    async run(invocation) {
      const id = runIdOf(invocation.positions);
      const options = { body: {}, idempotencyKey: crypto.randomUUID() };
      const answer = await connect(invocation).call<Steered>("POST", `/v1/edge/fleet/${id}/${word}`, options);
      const reasons = answer.pause_reasons ?? [];
      invocation.output.json(answer);
      invocation.output.line(`run ${id} is ${answer.status}${reasons.length === 0 ? "" : ` (${reasons.join(", ")})`}`);
      return "ok";
    },
  });

export const pause = steerVerb("pause");
export const resume = steerVerb("resume");
