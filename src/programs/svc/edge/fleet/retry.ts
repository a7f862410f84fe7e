/** `fleet retry`: a run anew over the hosts that failed in it, followed to its end. */
import { defineVerb, serviceFlags } from "../command/verb.ts";
import { connect } from "../service/connect.ts";
import { policyFlags, policyOf } from "./policy.ts";
import { runIdOf } from "./runs.ts";
import { watchRun } from "./watch.ts";

export const verb = defineVerb({
  usage: "<run> [--status STATUS]…",
  flags: {
    ...serviceFlags,
    status: { kind: "list", value: "STATUS", meaning: "which hosts (default err timed_out lost expired refused)" },
    ...policyFlags,
  },
  positions: [1, 1],
  async run(invocation) {
    const { flags, output, environment, positions } = invocation;
    const id = runIdOf(positions);
    const policy = policyOf(flags, null);
    const statuses = flags.status.flatMap((words) => words.split(","));
    const body = {
      ...(statuses.length === 0 ? {} : { statuses }),
      ...(Object.keys(policy).length === 0 ? {} : { policy }),
    };
    const begin = { path: `/v1/edge/fleet/${id}/retry`, body };
    return watchRun({ service: connect(invocation), environment, output, begin });
  },
});
