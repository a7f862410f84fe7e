/** A list of things to do behind one button. */
import { Menu as Base } from "@base-ui/react/menu";
import type { LucideIcon } from "lucide-react";
import type { ReactElement } from "react";
import { classes } from "./classes.ts";

export interface MenuItem {
  readonly label: string;
  readonly icon?: LucideIcon;
  readonly danger?: boolean;
  readonly disabled?: boolean;
  readonly onClick: () => void;
}

/** @param trigger a button element of the kit */
export function Menu({
  trigger,
  items,
}: {
  readonly trigger: ReactElement;
  readonly items: readonly (MenuItem | null | false)[];
}) {
  const shown = items.filter((item) => item !== null && item !== false);
  if (shown.length === 0) return null;
  return (
    <Base.Root>
      <Base.Trigger render={trigger as ReactElement<Record<string, unknown>>} />
      <Base.Portal>
        <Base.Positioner align="end" sideOffset={4} className="z-40">
          <Base.Popup className="pop min-w-44 p-1 outline-none">
            {shown.map(({ label, icon: Icon, danger = false, disabled = false, onClick }) => (
              <Base.Item
                key={label}
                disabled={disabled}
                onClick={onClick}
                className={classes(
                  "flex cursor-default items-center gap-2 rounded-control px-2 py-1.5 outline-none data-highlighted:bg-hover data-disabled:opacity-50",
                  danger && "text-bad",
                )}
              >
                {Icon !== undefined && <Icon aria-hidden className="size-4 text-current opacity-80" />}
                {label}
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
