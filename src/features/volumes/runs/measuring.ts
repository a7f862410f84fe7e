/** What the volumes of this host hold, measured. */
import { idsIn, measure, type Usage, type VolumeLayout } from "../layout.ts";
import type { Places } from "../places/port.ts";
import type { VolumeRecords } from "../records.ts";
import type { VolumesInUse } from "./in-use.ts";

/** Measurements of what agents write to at this moment hold this long. */
const freshMs = 1000;
/** A volume that is changed while it is measured is measured again so often. */
const maxRounds = 3;

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

  /**
   * Measures what nothing writes to, and notes it. Where routes change it all the time, the figures hold for the moment.
   * @param look measures it
   */
  async function settle(volumeId: string, look: () => Promise<Usage>): Promise<Usage> {
    for (let round = 1; ; round++) {
      const since = round < maxRounds ? await records.changesOf(volumeId) : null;
      const usage = await look();
      if ((await records.noteUsage(volumeId, usage.bytes, usage.files, since)) || since === null) return usage;
    }
  }

  return {
    usageOf,

    /** Of a volume that no execution works with. */
    settleUsage: (volumeId: string): Promise<Usage> => settle(volumeId, () => places.measure(volumeId)),

    /** Counts what executions wrote on this host, so that it counts in the tenants' quotas. */
    async measureWritten(): Promise<void> {
      const lasting = await places.held();
      const doubtful = await records.doubtful([...lasting, ...(await idsIn(layout.workspaces))]);
      const busy = await attached(doubtful);
      for (const id of doubtful) {
        const look = () => (lasting.includes(id) ? places.measure(id) : measure(layout.workspace(id)));
        if (!busy.has(id)) await settle(id, look);
        else {
          const { bytes, files } = await look();
          await records.noteUsage(id, bytes, files, null);
        }
      }
    },
  };
}
