/**
 * Which registries the engine may be sent to. Names that are private by themselves are refused with the manifest
 * (`actors/manifest/images/image.ts`); here a public name is looked up that may still lead into the host's own network.
 */
import { isListed } from "../../../../../actors/manifest/images/image.ts";
import { classOf, readAddress } from "../../../../../actors/policy/network/address.ts";
import { withTimeout } from "../../../../lib/timers.ts";

const resolveMs = 5_000;

/**
 * The engine resolves the name anew, so this keeps off what is wrong by its settings and not an attacker who answers
 * differently the second time: against that stands a list of registries.
 * @param registries SVC_IMAGE_REGISTRIES; what is listed by name is the operator's word. Null: every public one.
 * @param resolve every address of a name; rejects when it has none
 */
export function registryGuard(
  registries: readonly string[] | null,
  resolve: (name: string) => Promise<readonly string[]>,
): (registry: string) => Promise<boolean> {
  return async (registry) => {
    if (isListed(registry, registries)) return true;
    const name = registry.replace(/:\d+$/, "");
    const late = () => new Error("the name was not resolved in time");
    // The engine may have a proxy or a resolver of its own: a name that is unknown here is its to refuse.
    const addresses = await withTimeout(resolve(name), resolveMs, late).catch(() => []);
    return addresses.every((text) => {
      const address = readAddress(text);
      return address !== null && classOf(address) === "public";
    });
  };
}
