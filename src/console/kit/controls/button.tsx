/** Buttons, and links that look like them. */
import { Button as Base } from "@base-ui/react/button";
import { Link, type LinkProps } from "@tanstack/react-router";
import { LoaderCircle } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { classes } from "./classes.ts";
import { Tip } from "./tip.tsx";

type Look = "primary" | "plain" | "ghost" | "danger";

const looks: Readonly<Record<Look, string>> = {
  primary: "border-transparent bg-accent-strong text-on-accent hover:bg-accent-hover",
  plain: "border-line-strong bg-surface text-ink hover:bg-hover",
  ghost: "border-transparent text-ink-soft hover:bg-hover hover:text-ink",
  danger: "border-line-strong bg-surface text-bad hover:border-bad hover:bg-bad-soft",
};

const shape =
  "inline-flex h-8 shrink-0 items-center justify-center gap-1.5 rounded-control border px-3 font-medium text-[0.93rem] whitespace-nowrap select-none transition-colors disabled:opacity-50 data-disabled:opacity-50 [&_svg]:size-4 [&_svg]:shrink-0";

interface Shared {
  readonly look?: Look;
  readonly small?: boolean;
  readonly children?: ReactNode;
}

/** @param busy shows that the action is under way, and takes no more clicks */
export function Button({
  look = "plain",
  small = false,
  busy = false,
  className,
  children,
  ...rest
}: Shared & { readonly busy?: boolean } & Omit<ComponentProps<typeof Base>, "className" | "children"> & {
    readonly className?: string;
  }) {
  return (
    <Base
      {...rest}
      disabled={rest.disabled === true || busy}
      focusableWhenDisabled={busy}
      className={classes(shape, looks[look], small && "h-7 px-2 text-xs", className)}
    >
      {busy && <LoaderCircle aria-hidden className="animate-spin" />}
      {children}
    </Base>
  );
}

/** A button that is only a picture; its name is shown on hover and read aloud. */
export function IconButton({
  label,
  look = "ghost",
  children,
  className,
  ...rest
}: Shared & { readonly label: string } & Omit<ComponentProps<typeof Base>, "className" | "children"> & {
    readonly className?: string;
  }) {
  return (
    <Tip text={label}>
      <Base {...rest} aria-label={label} className={classes(shape, "w-8 px-0", looks[look], className)}>
        {children}
      </Base>
    </Tip>
  );
}

export function ButtonLink({
  look = "plain",
  small = false,
  children,
  className,
  ...rest
}: Shared & Omit<LinkProps, "children"> & { readonly className?: string }) {
  return (
    <Link {...rest} className={classes(shape, looks[look], small && "h-7 px-2 text-xs", className)}>
      {children}
    </Link>
  );
}
