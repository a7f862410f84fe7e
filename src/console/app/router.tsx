/** Which address shows which page. Pages are loaded when they are first opened. */
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Layout } from "./layout.tsx";
import { Lost } from "./lost.tsx";
import { consolePath } from "./place.ts";

/** Every page takes any filter as text: what is behind `?` is the page's own. */
const texts = (search: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(search).map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]));

const root = createRootRoute({ component: Layout, notFoundComponent: Lost, validateSearch: texts });

type Loader = Parameters<typeof lazyRouteComponent>[0];
const page = (path: string, load: Loader, name: string) =>
  createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load, name as never) });

const pages = [page("/", () => import("../pages/home/home.tsx"), "Home")];

export const router = createRouter({
  routeTree: root.addChildren(pages),
  basepath: consolePath,
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
  // Filters are texts as they are: no JSON in addresses.
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(search as Record<string, string>).toString();
    return text === "" ? "" : `?${text}`;
  },
});
