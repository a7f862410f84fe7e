/** Which sandbox of this node a command runs in, and on which image. */
import { imageFault } from "../../../../../actors/manifest/images/image.ts";
import { localImageFault } from "../../../../../actors/manifest/images/local-images.ts";
import type { CommandRun } from "../../../../../actors/workflow/run/activities.ts";
import type { InstanceSpec, Isolation, Sandbox, Sandboxes } from "../../../../adapters/sandbox/port.ts";

export interface CommandOffer {
  readonly sandboxes: Sandboxes;
  /** What a System state runs in here; null: nothing can hold one. */
  readonly defaultIsolation: Isolation | null;
  /** SVC_SYSTEM_IMAGE */
  readonly systemImage: string;
  /** SVC_IMAGE_REGISTRIES; null: any. */
  readonly imageRegistries: readonly string[] | null;
  /** SVC_LOCAL_IMAGES; null: any. */
  readonly localImages: readonly string[] | null;
  /** SVC_OPEN_EGRESS */
  readonly openEgress: boolean;
  /** SVC_CONTAINER_ROOT */
  readonly rootAllowed: boolean;
}

export type CommandPlace =
  | {
      readonly ok: true;
      readonly sandbox: Sandbox;
      readonly image: InstanceSpec["image"];
      readonly open: boolean;
      readonly warnings: readonly string[];
    }
  | { readonly ok: false; readonly error: string };

/** No setting lets a command run on the host itself. */
export function placeOf(work: CommandRun, offer: CommandOffer): CommandPlace {
  const isolation = work.kind === "container" ? "docker" : offer.defaultIsolation;
  const sandbox = isolation === null ? null : offer.sandboxes.of(isolation);
  if (sandbox === null || sandbox.describe().sandbox === "none") {
    return { ok: false, error: work.kind === "container" ? "runtime_unavailable" : "sandbox_unavailable" };
  }
  // Judged when the workflow was registered, by a node that may have been set up otherwise.
  if (work.run_as_user === 0 && !offer.rootAllowed) return { ok: false, error: "root_forbidden" };
  const isIgnored = isolation === "process" && work.image !== null;
  const warnings = isIgnored ? ["image_ignored: commands of this node run on the host's programs"] : [];
  const open = work.network === "default" && offer.openEgress;
  if (work.network === "default" && !open) {
    warnings.push("open_egress_forbidden: this node opens no public hosts; the command reached none");
  }
  if (isolation === "process") return { ok: true, sandbox, image: null, open, warnings };
  const fault =
    work.image === null
      ? null
      : (imageFault(work.image, offer.imageRegistries) ??
        localImageFault(work.image, work.image_pull_policy, offer.localImages));
  if (fault !== null) return { ok: false, error: fault.code === "invalid" ? "invalid_image" : fault.code };
  const image = { reference: work.image ?? offer.systemImage, pullPolicy: work.image_pull_policy };
  return { ok: true, sandbox, image, open, warnings };
}
