/** A page of a room: its address below the console, and where its component is. It is loaded when it is first opened. */
import type { lazyRouteComponent } from "@tanstack/react-router";

export interface PageEntry {
  /** As the router has it: `/executions/$id`. */
  readonly path: string;
  readonly load: Parameters<typeof lazyRouteComponent>[0];
  /** The name under which the module exports the component. */
  readonly name: string;
  /** A page that is a form and nothing else: its heading, and the scope without which all of it would be refused. */
  readonly form?: { readonly title: string; readonly scope: string };
}
