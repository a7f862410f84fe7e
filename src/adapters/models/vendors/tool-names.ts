/** Tool names as vendors accept them, `[A-Za-z0-9_-]{1,64}`, and the way back to our dotted names. */

const longest = 64;

export interface ToolNames {
  /** The vendor's name of one of ours. */
  toVendor(name: string): string;
  /** Our name of one of the vendor's; the same text when it is none that we sent. */
  fromVendor(name: string): string;
}

/**
 * Names for one request. Two names that become equal are told apart by a number at the end; earlier names
 * keep the plain form, so the tools of the call come before names found only in the conversation.
 */
export function toolNames(names: Iterable<string>): ToolNames {
  const vendor = new Map<string, string>();
  const ours = new Map<string, string>();
  for (const name of names) {
    if (vendor.has(name)) continue;
    const plain = name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, longest) || "_";
    let candidate = plain;
    for (let number = 2; ours.has(candidate); number++) {
      const suffix = `_${number}`;
      candidate = plain.slice(0, longest - suffix.length) + suffix;
    }
    vendor.set(name, candidate);
    ours.set(candidate, name);
  }
  return {
    toVendor: (name) => vendor.get(name) ?? name,
    fromVendor: (name) => ours.get(name) ?? name,
  };
}
