/** What stands around every page: navigation, palette, who is signed in, whether changes arrive. */
import { Link, Outlet, useRouterState } from "@tanstack/react-router";
import { BookOpen, LogOut, Menu as MenuIcon, Monitor, Moon, Search, Sun, UserRound, WifiOff, X } from "lucide-react";
import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { Button, IconButton } from "../kit/controls/button.tsx";
import { classes } from "../kit/controls/classes.ts";
import { Menu } from "../kit/controls/menu.tsx";
import { useAreas } from "./areas.ts";
import { Mark } from "./mark.tsx";
import { serviceUrl } from "./session/place.ts";
import { signOut, useMe, useSession } from "./session/session.ts";
import { useLive } from "./streams/live.ts";
import type { Connection } from "./streams/streams.ts";
import { chooseTheme, chosenTheme, type Theme } from "./theme.ts";
import { useWaitingApprovals } from "./waiting.ts";

const Palette = lazy(() => import("./palette.tsx").then(({ Palette }) => ({ default: Palette })));

/** Where a key leads to: `/` to the search of a page, `j` and `k` to its list while nothing has the focus. */
function placeOf({ key, target, altKey, ctrlKey, metaKey }: KeyboardEvent): string | null {
  const isTyping =
    target instanceof Element && target.closest("input, textarea, select, [contenteditable], [role=dialog]") !== null;
  if (isTyping || altKey || ctrlKey || metaKey) return null;
  if (key === "/") return "[data-search]";
  return (key === "j" || key === "k") && target === document.body ? "main [role=grid]" : null;
}

export function Layout() {
  const live = useLive();
  const [isOpen, open] = useState(false);
  const [isPalette, showPalette] = useState(false);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page closes the navigation of small screens
  useEffect(() => open(false), [path]);
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        showPalette(true);
        return;
      }
      const wanted = placeOf(event);
      const found = wanted === null ? null : document.querySelector<HTMLElement>(wanted);
      if (found === null) return;
      event.preventDefault();
      found.focus();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  return (
    <div className="flex min-h-dvh">
      <a
        href="#content"
        className="sr-only z-50 rounded-control bg-raised px-3 py-2 focus:not-sr-only focus:fixed focus:top-2 focus:left-2"
      >
        Skip to the content
      </a>
      {isOpen && (
        <button
          type="button"
          aria-label="Close the navigation"
          className="fixed inset-0 z-30 bg-black/40 lg:hidden"
          onClick={() => open(false)}
        />
      )}
      <aside
        className={classes(
          "fixed inset-y-0 left-0 z-30 flex w-60 shrink-0 flex-col border-line border-r bg-surface transition-transform lg:sticky lg:top-0 lg:h-dvh lg:translate-x-0",
          isOpen ? "translate-x-0" : "max-lg:invisible max-lg:-translate-x-full",
        )}
      >
        <div className="flex h-13 items-center gap-2 px-4">
          <Link to="/" className="flex items-center gap-2 font-semibold text-base text-ink no-underline">
            <Mark />
            svc
          </Link>
          <Tenant />
          <IconButton label="Close" className="ml-auto lg:hidden" onClick={() => open(false)}>
            <X aria-hidden />
          </IconButton>
        </div>
        <div className="px-3 pb-2">
          <Button className="w-full justify-start text-ink-faint" onClick={() => showPalette(true)}>
            <Search aria-hidden />
            <span className="flex-1 text-left font-normal">Search …</span>
            <kbd className="rounded border border-line px-1 text-2xs">Ctrl K</kbd>
          </Button>
        </div>
        <Navigation />
        <Person />
      </aside>
      <div className="flex min-w-0 flex-1 flex-col">
        <div className="sticky top-0 z-20 flex h-13 items-center gap-2 border-line border-b bg-surface px-3 lg:hidden">
          <IconButton label="Navigation" onClick={() => open(true)}>
            <MenuIcon aria-hidden />
          </IconButton>
          <Mark />
          <span className="font-semibold">svc</span>
          <IconButton label="Search" className="ml-auto" onClick={() => showPalette(true)}>
            <Search aria-hidden />
          </IconButton>
        </div>
        <Lost state={live} />
        <main id="content" className="min-w-0 flex-1">
          <Outlet />
        </main>
      </div>
      {isPalette && (
        <Suspense>
          <Palette onClose={() => showPalette(false)} />
        </Suspense>
      )}
    </div>
  );
}

/** Says that what is shown may be old, while no changes arrive. */
function Lost({ state }: { readonly state: Connection }) {
  const [isLong, setLong] = useState(false);
  const isLost = state === "lost";
  useEffect(() => {
    if (!isLost) return setLong(false);
    const waiting = setTimeout(() => setLong(true), 1_200);
    return () => clearTimeout(waiting);
  }, [isLost]);
  if (!isLong) return null;
  return (
    <div
      role="status"
      className="sticky top-0 z-20 flex items-center justify-center gap-2 bg-warn-soft px-4 py-1.5 font-medium text-warn text-xs"
    >
      <WifiOff aria-hidden className="size-3.5" />
      The connection to the service is lost. Trying again; what you see may be old.
    </div>
  );
}

function Tenant() {
  const { tenant_id: tenant } = useMe();
  return (
    <span title={`Tenant ${tenant}`} className="min-w-0 truncate rounded bg-hover px-1.5 py-0.5 text-2xs text-ink-soft">
      {tenant}
    </span>
  );
}

function Navigation() {
  const shown = useAreas();
  const waiting = useWaitingApprovals();
  const box = useRef<HTMLElement>(null);
  const path = useRouterState({ select: ({ location }) => location.pathname });
  // In low windows the place of a page may be below the edge.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page has another place
  useEffect(() => {
    box.current?.querySelector("[data-status=active]")?.scrollIntoView({ block: "nearest" });
  }, [path]);
  return (
    <nav ref={box} aria-label="Pages" className="navigation min-h-0 flex-1 scroll-py-6 overflow-y-auto px-2 pt-1 pb-4">
      {shown.map(({ title, places }) => (
        <div key={title ?? ""} className="mt-2.5 first:mt-1">
          {title !== null && (
            <h2 className="m-0 px-2 pb-1 font-medium text-2xs text-ink-faint uppercase tracking-wide">{title}</h2>
          )}
          {places.map(({ path, title: name, icon: Icon }) => (
            <Link
              key={path}
              to={path}
              activeOptions={{ exact: path === "/" }}
              className="flex h-7 items-center gap-2 rounded-control px-2 max-lg:h-9 text-ink-soft no-underline hover:bg-hover hover:text-ink data-[status=active]:bg-selected data-[status=active]:font-medium data-[status=active]:text-ink"
            >
              <Icon aria-hidden className="size-4 shrink-0" />
              <span className="truncate">{name}</span>
              {path === "/approvals" && waiting > 0 && (
                <span
                  className="ml-auto rounded-full bg-accent-strong px-1.5 font-medium text-2xs text-on-accent"
                  title={`${waiting} approvals wait`}
                >
                  {waiting > 99 ? "99+" : waiting}
                </span>
              )}
            </Link>
          ))}
        </div>
      ))}
    </nav>
  );
}

const themes: readonly (readonly [Theme, string, typeof Sun])[] = [
  ["system", "Theme of the system", Monitor],
  ["light", "Light", Sun],
  ["dark", "Dark", Moon],
];

function Person() {
  const session = useSession();
  const [theme, setTheme] = useState(chosenTheme());
  if (session.state !== "in") return null;
  const choose = (next: Theme) => {
    chooseTheme(next);
    setTheme(next);
  };
  return (
    <div className="border-line border-t p-2">
      <Menu
        trigger={
          <Button look="ghost" className="w-full justify-start">
            <UserRound aria-hidden />
            <span className="min-w-0 flex-1 truncate text-left">{session.name}</span>
          </Button>
        }
        items={[
          ...themes.map(([name, label, icon]) => ({
            label: theme === name ? `${label} ✓` : label,
            icon,
            onClick: () => choose(name),
          })),
          {
            label: "Documentation",
            icon: BookOpen,
            onClick: () => void window.open(`${serviceUrl}/docs`, "_blank", "noopener"),
          },
          { label: "Sign out", icon: LogOut, onClick: () => void signOut() },
        ]}
      />
    </div>
  );
}
