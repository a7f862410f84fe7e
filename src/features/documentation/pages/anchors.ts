/** Anchors of headings and rows, named as GitHub names them, so that a link works here and there. */

/** The anchor of a heading's text. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");
}

/** Gives out anchors of one page; a second heading of the same text gets `-1`, a third one `-2`. */
export function createAnchors(): (heading: string) => string {
  const given = new Set<string>();
  return (heading) => {
    const base = anchorOf(heading);
    let anchor = base;
    for (let again = 1; given.has(anchor); again += 1) anchor = `${base}-${again}`;
    given.add(anchor);
    return anchor;
  };
}
