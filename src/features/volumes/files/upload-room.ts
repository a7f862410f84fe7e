/**
 * Room for uploads while they are written: what is on its way into a volume counts against its quotas with every piece,
 * so that a body that fits nowhere never lies on the disk. Each node counts what it receives itself; the quotas that all
 * nodes share are decided once more when a file moves into place.
 */
import { Problem } from "../../../../actors/kernel/problem.ts";
import type { StorageQuota } from "../../../../actors/policy/storage-quota.ts";
import type { VolumeRow } from "../records.ts";
import type { Caller } from "../service.ts";
import type { Held } from "../user-records.ts";

interface Bound {
  /** Name of the quota, as errors show it. */
  readonly quota: "size_limit_bytes" | "user_bytes" | "max_storage_gb";
  /** What is bounded: uploads of the same key share the room. */
  readonly key: string;
  readonly limit: number;
  readonly used: number;
}

/** The bounds on what a volume may take from a caller. @param held as counted last */
export function boundsOf(
  { identity, tenant }: Caller,
  quota: StorageQuota,
  row: VolumeRow,
  held: Held,
): readonly Bound[] {
  const owner = JSON.stringify([row.owner_realm ?? identity.realm, row.owner_user_id ?? identity.userId]);
  return [
    { quota: "size_limit_bytes", key: `volume ${row.volume_id}`, limit: row.size_limit_bytes, used: held.volumeBytes },
    { quota: "user_bytes", key: `user ${tenant} ${owner}`, limit: quota.userBytes, used: held.userBytes },
    { quota: "max_storage_gb", key: `tenant ${tenant}`, limit: quota.tenantBytes, used: held.tenantBytes },
  ];
}

/** The answer for a file that one of the bounds has no room for. */
export function noRoom({ quota, limit, used }: Bound, { tier }: StorageQuota): Problem {
  // What is still coming is not read.
  const headers = { Connection: "close" };
  return new Problem("quota_exceeded", "There is no room for this file", { quota, limit, used, tier }, headers);
}

/** Of one bound, on this node. */
interface Tally {
  /** Bytes that uploads under way have taken. */
  coming: number;
  /** Bytes that arrived for good since the node began, without those that they replaced. */
  arrived: number;
  uploads: number;
}

export class UploadRoom {
  readonly #tallies = new Map<string, Tally>();

  /**
   * @param bounds as counted just now
   * @param replaced bytes that go when the file takes its place
   */
  open(bounds: readonly Bound[], quota: StorageQuota, replaced: number): ComingUpload {
    const parts = bounds.map((bound) => {
      const tally = this.#tallies.get(bound.key) ?? { coming: 0, arrived: 0, uploads: 0 };
      this.#tallies.set(bound.key, tally);
      tally.uploads += 1;
      return { bound, tally, arrivedBefore: tally.arrived };
    });
    let taken = 0;
    let open = true;
    return {
      take: (bytes) => {
        const full = parts.find(({ bound, tally, arrivedBefore }) => {
          const counted = bound.used + (tally.arrived - arrivedBefore) + tally.coming;
          return counted + bytes - replaced > bound.limit;
        });
        if (full !== undefined) throw noRoom(full.bound, quota);
        taken += bytes;
        for (const { tally } of parts) tally.coming += bytes;
      },
      close: (grown) => {
        if (!open) return;
        open = false;
        for (const { bound, tally } of parts) {
          tally.coming -= taken;
          tally.arrived += grown;
          tally.uploads -= 1;
          if (tally.uploads === 0) this.#tallies.delete(bound.key);
        }
      },
    };
  }
}

/** An upload under way. */
export interface ComingUpload {
  /** Asked before bytes are written. @throws Problem 402 `quota_exceeded` */
  take(bytes: number): void;
  /** @param grown bytes that the volume holds more than before, 0 when nothing came of it. Only the first call counts. */
  close(grown: number): void;
}
