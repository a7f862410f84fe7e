/** What the volumes of this host hold, measured. */
import { idsIn, measure, type Usage, type VolumeLayout } from "../layout.ts";
import type { Places } from "../places/port.ts";
import type { VolumeRecords } from "../records.ts";
import type { VolumesInUse } from "./in-use.ts";

/** Measurements of what agents write to at this moment hold this long. */
const freshMs = 1000;

/** What volumes of this host hold. */
export function measuring(
  layout: VolumeLayout,
  places: Pick<Places, "held" | "measure">,
  records: VolumeRecords,
  attached: VolumesInUse["attached"],
  now: () => number,
) {
  const measured = new Map<string, { readonly at: number; readonly usage: Promise<Usage> }>();

  /** What a volume holds, measured now or a moment ago. */
  function usageOf(volumeId: string): Promise<Usage> {
    const known = measured.get(volumeId);
    if (known !== undefined && now() - known.at < freshMs) return known.usage;
    for (const [id, { at }] of measured) if (now() - at >= freshMs) measured.delete(id);
    const usage = places.measure(volumeId);
    measured.set(volumeId, { at: now(), usage });
    return usage;
  }

  return {
    usageOf,

    /** Counts what executions wrote on this host, so that it counts in the tenants' quotas. */
    async measureWritten(): Promise<void> {
      const lasting = await places.held();
      const doubtful = await records.doubtful([...lasting, ...(await idsIn(layout.workspaces))]);
      const busy = await attached(doubtful);
      for (const id of doubtful) {
        const { bytes, files } = await (lasting.includes(id) ? places.measure(id) : measure(layout.workspace(id)));
        await records.noteUsage(id, bytes, files, !busy.has(id));
      }
    },
  };
}
