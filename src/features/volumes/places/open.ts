/** The place that the settings name, seen to work. */
import { access } from "node:fs/promises";
import { NotReady, type Probe } from "../../../http/operations/health.ts";
import { roomOf } from "../../../lib/files/disk-room.ts";
import { StartFailure } from "../../../lib/start-failure.ts";
import type { Sql } from "../../../store/postgres/pool.ts";
import type { VolumeLayout } from "../layout.ts";
import { localPlaces } from "./local/local-places.ts";
import type { Places } from "./port.ts";

export interface PlacesOptions {
  readonly sql: Sql;
  readonly layout: VolumeLayout;
  readonly backend: "local" | "s3";
}

/** @throws StartFailure where nothing can be written, read and deleted there */
export async function openPlaces({ sql, layout, backend }: PlacesOptions): Promise<Places> {
  if (backend === "s3") throw new StartFailure("SVC_STORAGE_BACKEND s3 is not offered by this version: use local.");
  const places = localPlaces(sql, layout);
  await places.probe().catch((error: unknown) => {
    throw new StartFailure(`SVC_STORAGE_ROOT ${layout.volumes} cannot be used: ${String(error)}`);
  });
  return places;
}

/** Whether files can be kept: by the place, and by the disks that workspaces and volumes of this host lie on. */
export function storageProbe(places: Places, dataDir: string, layout: VolumeLayout): Probe {
  const disks = [roomOf(dataDir), roomOf(layout.volumes)];
  return async () => {
    await access(dataDir);
    if (!disks.every((hasRoom) => hasRoom())) throw new NotReady("its disk is full");
    await places.probe();
  };
}
