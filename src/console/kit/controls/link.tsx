/** A link within a text or a row, to another page of the console. */
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { classes } from "./classes.ts";

interface TextLinkProps {
  /** Below the console, with its filters: `/tools?tab=calls`. */
  readonly to: string;
  readonly className?: string;
  /** In a tab of its own. */
  readonly apart?: boolean;
  readonly children: ReactNode;
}

export function TextLink({ to, className, apart = false, children }: TextLinkProps) {
  const { pathname, searchParams } = new URL(to, "http://console");
  return (
    <Link
      // Paths are made of data, and are none that the router knows by type.
      to={pathname as never}
      search={Object.fromEntries(searchParams) as never}
      className={classes("text-accent hover:underline", className)}
      {...(apart ? { target: "_blank" } : {})}
    >
      {children}
    </Link>
  );
}
