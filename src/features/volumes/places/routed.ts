/**
 * Places of both kinds side by side: where the bytes of a volume lie was decided when it was made, and a service that is
 * given an object store goes on with the volumes that it has.
 */
import type { Sql } from "../../../store/postgres/pool.ts";
import type { Places } from "./port.ts";

/** Volumes whose place is remembered; it never changes. */
const maxRemembered = 10_000;

/** @param failed told of an object store that does not erase what it should; it is asked again later */
export function routedPlaces(sql: Sql, local: Places, objects: Places, failed: (error: unknown) => void): Places {
  const remembered = new Map<string, Places>();

  async function of(volumeId: string): Promise<Places> {
    const known = remembered.get(volumeId);
    if (known !== undefined) return known;
    const [row] = await sql<{ backend: string }[]>`select backend from volumes where volume_id = ${volumeId}`;
    // Of a volume that is gone no more than a directory can be left.
    if (row === undefined) return local;
    const found = row.backend === "s3" ? objects : local;
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(volumeId, found);
    return found;
  }

  return {
    async probe() {
      await local.probe();
      await objects.probe();
    },
    prepare: async (volumeId) => (await of(volumeId)).prepare(volumeId),
    list: async (volume, part, signal) => (await of(volume.volume_id)).list(volume, part, signal),
    look: async (volume, path) => (await of(volume.volume_id)).look(volume, path),
    open: async (volume, path, signal) => (await of(volume.volume_id)).open(volume, path, signal),
    draft: async (volume) => (await of(volume.volume_id)).draft(volume),
    change: async (volume, work) => (await of(volume.volume_id)).change(volume, work),
    stage: async (volumeId) => (await of(volumeId)).stage(volumeId),
    measure: async (volumeId) => (await of(volumeId)).measure(volumeId),
    writeBack: async (volumeId, isIdle) => (await of(volumeId)).writeBack(volumeId, isIdle),
    arrive: async (volume, use, signal) => (await of(volume.volume_id)).arrive(volume, use, signal),
    // Only copies of volumes of the object store are written back.
    land: (instanceId, signal) => objects.land(instanceId, signal),
    held: async () => [...new Set([...(await local.held()), ...(await objects.held())])],
    async erase(volumeId) {
      const place = await of(volumeId);
      try {
        return await place.erase(volumeId);
      } catch (error) {
        if (place === local) throw error;
        failed(error);
        return false;
      }
    },
    async tidy(now) {
      await local.tidy(now);
      await objects.tidy(now).catch(failed);
    },
  };
}
