/** What the parts of the kit need around them. */
import { CSPProvider } from "@base-ui/react/csp-provider";
import { Tooltip } from "@base-ui/react/tooltip";
import type { ReactNode } from "react";
import { Toasts } from "./dialogs/toast.tsx";

export function Kit({ children }: { readonly children: ReactNode }) {
  return (
    <CSPProvider disableStyleElements>
      <Tooltip.Provider delay={350}>
        <Toasts>{children}</Toasts>
      </Tooltip.Provider>
    </CSPProvider>
  );
}
