/** What the metrics tell of signed calls. */
import { Counter, type Metric } from "prom-client";

export interface CallMetrics {
  readonly metrics: readonly Metric[];
  /** Has each call counted by what became of it. */
  readonly counting: <Request>(
    invoke: (request: Request) => Promise<Response>,
  ) => (request: Request) => Promise<Response>;
}

export function callMetrics(): CallMetrics {
  const calls = new Counter({
    name: "svc_seal_calls_total",
    help: "Signed calls, by outcome",
    labelNames: ["outcome"],
    registers: [],
  });
  return {
    metrics: [calls],
    counting: (invoke) => async (request) => {
      let outcome = "failed";
      try {
        const answer = await invoke(request);
        outcome = outcomeOf(answer.status);
        return answer;
      } finally {
        calls.inc({ outcome });
      }
    },
  };
}

/** `answered` also where the tool itself failed. */
function outcomeOf(status: number): string {
  if (status === 202) return "waiting";
  if (status < 400) return "answered";
  return status < 500 ? "refused" : "failed";
}
