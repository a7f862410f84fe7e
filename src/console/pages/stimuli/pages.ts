import type { PageEntry } from "../../app/page-entry.ts";

export const stimulusPages: readonly PageEntry[] = [
  { path: "/stimuli", load: () => import("./deliveries/stimuli.tsx"), name: "Stimuli" },
  { path: "/stimuli/$id", load: () => import("./deliveries/stimulus.tsx"), name: "StimulusPage" },
  { path: "/sources", load: () => import("./sources/sources.tsx"), name: "Sources" },
  {
    path: "/sources/new",
    load: () => import("./sources/new-source.tsx"),
    name: "NewSource",
    form: { title: "New source", scope: "stimulus:manage" },
  },
  { path: "/sources/$id", load: () => import("./sources/source.tsx"), name: "SourcePage" },
];
