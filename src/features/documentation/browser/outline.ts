/** The contents beside a page: open where there is room, and marked at the heading that is read. */

export function followOutline(): void {
  const details = document.querySelector<HTMLDetailsElement>(".outline details");
  if (details === null) return;
  const wide = matchMedia("(min-width: 80rem)");
  const open = () => {
    details.open = wide.matches;
  };
  open();
  wide.addEventListener("change", open);

  const links = [...details.querySelectorAll<HTMLAnchorElement>("a")];
  const places = links.flatMap((link) => {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    return heading === null ? [] : [{ link, heading }];
  });
  let isPending = false;
  const mark = () => {
    isPending = false;
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
    // The last heading above the upper third; at the end of the page the last one in sight.
    const line = isAtEnd ? innerHeight : innerHeight / 3;
    const read = places.findLast(({ heading }) => heading.getBoundingClientRect().top < line);
    for (const { link } of places) {
      if (link === read?.link) link.setAttribute("aria-current", "location");
      else link.removeAttribute("aria-current");
    }
  };
  addEventListener(
    "scroll",
    () => {
      if (isPending) return;
      isPending = true;
      requestAnimationFrame(mark);
    },
    { passive: true },
  );
  mark();
}
