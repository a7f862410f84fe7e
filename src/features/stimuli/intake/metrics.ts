/** What happens to stimuli, as numbers. */
import { Counter } from "prom-client";
import type { IgnoredMessage, StimulusSource } from "../sources/port.ts";

/** Sources that have a series of their own on a node; further ones share one. */
const maxSeries = 1_000;

export function stimulusMetrics() {
  const registers: [] = [];
  const events = new Counter({
    name: "svc_stimuli_total",
    help: "What happened to stimuli",
    labelNames: ["event"],
    registers,
  });
  const refusals = new Counter({
    name: "svc_webhook_refusals_total",
    help: "Deliveries turned away, by code",
    labelNames: ["code"],
    registers,
  });
  const ignored = new Counter({
    name: "svc_stimuli_ignored_total",
    help: "Messages that a source passed over, by its filters; of more than 1,000 sources the later ones together",
    labelNames: ["tenant", "source", "reason"],
    registers,
  });
  const known = new Set<string>();
  function isOneOfFew({ tenant, source }: Pick<StimulusSource, "tenant" | "source">): boolean {
    // Neither slugs nor sources hold blanks.
    const name = `${tenant} ${source}`;
    if (!known.has(name) && known.size < maxSeries) known.add(name);
    return known.has(name);
  }

  return {
    all: [events, refusals, ignored],
    events,
    refusals,
    ignored(of: Pick<StimulusSource, "tenant" | "source">, { reason }: Pick<IgnoredMessage, "reason">): void {
      const { tenant, source } = isOneOfFew(of) ? of : { tenant: "", source: "" };
      ignored.inc({ tenant, source, reason });
    },
  };
}

export type StimulusMetrics = ReturnType<typeof stimulusMetrics>;
