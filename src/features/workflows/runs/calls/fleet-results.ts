/** The activity `workflow.fleet_results`: what became of each host of a fleet run, as the result of a state. */
import { isObject } from "../../../../../actors/kernel/json.ts";
import { Problem } from "../../../../../actors/kernel/problem.ts";
import { fleetResults, type HostResult } from "../../../../../actors/workflow/run/activities/fleet-results.ts";
import { storable } from "../../../../lib/storable.ts";
import { type Activity, implement, Terminal } from "../../../../runtime/port.ts";
import type { FleetReading } from "../../../edge/fleet/port.ts";

type Target = Awaited<ReturnType<FleetReading["one"]>>["per_node"][number];

const atOnce = 500;
/** Bytes of what hosts wrote and tools said, of all of them together; behind that results are short. */
const mostBytes = 1_048_576;
/** Characters of what is left of a message then. */
const shortened = 200;

export function fleetResultsActivity(reading: Pick<FleetReading, "one">): Activity {
  return implement(
    fleetResults,
    { concurrency: 16, retry: { attempts: 20, firstDelayMs: 500 } },
    async ({ fleet_command_id: id }, { actor: { tenant } }) => {
      const results: HostResult[] = [];
      let left = mostBytes;
      for (let offset = 0; ; offset += atOnce) {
        const { per_node, next_cursor } = await page(reading, tenant, id, offset);
        for (const target of per_node) {
          const result = resultOf(target);
          const bytes = Buffer.byteLength(JSON.stringify(result));
          left -= bytes;
          results.push(left >= 0 ? result : short(result));
        }
        if (next_cursor === null) return { results: storable(results) };
      }
    },
  );
}

async function page(reading: Pick<FleetReading, "one">, tenant: string, id: string, offset: number) {
  try {
    return await reading.one(tenant, id, null, { limit: atOnce, offset, after: null });
  } catch (error) {
    if (error instanceof Problem && error.status === 404) throw new Terminal(error.code, error.message);
    throw error;
  }
}

function resultOf(target: Target): HostResult {
  const { node_id, name, status, exit_code, error_kind, error_message, duration_ms, structured } = target;
  return {
    ...{ node_id, name, status, exit_code, error_kind, error_message },
    duration_ms: duration_ms === null ? null : Math.round(duration_ms),
    stdout: target.stdout_tail ?? "",
    stderr: target.stderr_tail ?? "",
    structured: isObject(structured) ? structured : (structured ?? null),
    truncated: target.truncated ?? false,
  };
}

const short = ({ error_message, ...result }: HostResult): HostResult => ({
  ...result,
  error_message: error_message === null ? null : error_message.slice(0, shortened),
  ...{ stdout: "", stderr: "", structured: null, truncated: true },
});
