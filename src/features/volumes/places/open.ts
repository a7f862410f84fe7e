/** The places that the settings name, seen to work. */
import { access } from "node:fs/promises";
import { ObjectsUnavailable, openObjects } from "../../../adapters/objects/port.ts";
import { NotReady, type Probe } from "../../../http/operations/health.ts";
import { roomOf } from "../../../lib/files/disk-room.ts";
import { StartFailure } from "../../../lib/start-failure.ts";
import { repeatedly } from "../../../lib/timers.ts";
import type { VolumeSettings } from "../settings.ts";
import { localPlaces } from "./local/local-places.ts";
import type { Places } from "./port.ts";
import { routedPlaces } from "./routed.ts";
import { type ObjectPlaces, type ObjectPlacesOptions, objectPlaces } from "./s3/places.ts";

export interface PlacesOptions extends Omit<ObjectPlacesOptions, "objects"> {
  readonly settings: VolumeSettings;
  readonly warn: (event: string, facts: Readonly<Record<string, unknown>>) => void;
}

export interface OpenPlaces {
  readonly places: Places;
  /** Begins the rounds over what crashes left of copies on this host. @returns a function that ends them */
  readonly sweep: (running: Parameters<ObjectPlaces["staging"]["tidy"]>[0]) => () => Promise<void>;
}

/** How often what a crash left of copies is looked for, ms. */
const sweepEveryMs = 30_000;

/** @throws StartFailure where nothing can be written, read and deleted there */
export async function openPlaces(options: PlacesOptions): Promise<OpenPlaces> {
  const { sql, layout, settings, warn } = options;
  const local = localPlaces(sql, layout);
  await local.probe().catch((error: unknown) => {
    throw new StartFailure(`SVC_STORAGE_ROOT ${layout.volumes} cannot be used: ${String(error)}`);
  });
  if (settings.storageBackend === "local") return { places: local, sweep: () => async () => {} };
  const objects = objectPlaces({ ...options, objects: openObjects(settings) });
  await objects.probe().catch((error: unknown) => {
    throw new StartFailure(`The bucket ${settings.s3Bucket} at SVC_S3_ENDPOINT cannot be used: ${reasonOf(error)}`);
  });
  const failed = (error: unknown) => warn("object_store_failed", { reason: reasonOf(error) });
  return {
    places: routedPlaces(sql, local, objects, failed),
    sweep: (running) => repeatedly(sweepEveryMs, () => objects.staging.tidy(running), failed),
  };
}

/** That the places work is believed for so long, ms: an object store is paid for each request. */
const provenMs = 10_000;

const reasonOf = (error: unknown): string => (error instanceof ObjectsUnavailable ? error.reason : String(error));

/** Whether files can be kept: by the place, and by the disks that workspaces and volumes of this host lie on. */
export function storageProbe(places: Places, dataDir: string, disks: readonly string[]): Probe {
  const rooms = disks.map((disk) => roomOf(disk));
  let provenAt = Number.NEGATIVE_INFINITY;
  return async () => {
    await access(dataDir);
    if (!rooms.every((hasRoom) => hasRoom())) throw new NotReady("its disk is full");
    if (performance.now() - provenAt < provenMs) return;
    await places.probe();
    provenAt = performance.now();
  };
}
