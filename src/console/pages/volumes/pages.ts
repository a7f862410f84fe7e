import type { PageEntry } from "../../app/page-entry.ts";

export const volumePages: readonly PageEntry[] = [
  { path: "/volumes", load: () => import("./list.tsx"), name: "Volumes" },
  { path: "/volumes/$id", load: () => import("./volume.tsx"), name: "VolumePage" },
];
