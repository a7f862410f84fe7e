/** Short news of what was done; errors stay until they are closed. */
import { Toast } from "@base-ui/react/toast";
import { CheckCircle2, CircleAlert, X } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "../../../programs/client/errors.ts";
import { classes } from "../controls/classes.ts";

const news = Toast.createToastManager();

/** Tells that something was done. */
export function tell(title: string, description?: string): void {
  news.add({ title, ...(description === undefined ? {} : { description }), type: "good", timeout: 4_000 });
}

/** Tells why something was not done. */
export function tellError(title: string, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  const code =
    error instanceof ApiError
      ? ` (${error.code}${error.requestId === null ? "" : `, request ${error.requestId}`})`
      : "";
  news.add({ title, description: reason + code, type: "bad", timeout: 0, priority: "high" });
}

export function Toasts({ children }: { readonly children: ReactNode }) {
  return (
    <Toast.Provider toastManager={news} limit={4}>
      {children}
      <Toast.Portal>
        <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-[min(24rem,calc(100vw-2rem))] flex-col gap-2 outline-none">
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function List() {
  const { toasts } = Toast.useToastManager();
  return toasts.map((toast) => (
    <Toast.Root key={toast.id} toast={toast} className="pop flex items-start gap-2.5 p-3">
      {toast.type === "bad" ? (
        <CircleAlert aria-hidden className="mt-0.5 size-4 shrink-0 text-bad" />
      ) : (
        <CheckCircle2 aria-hidden className="mt-0.5 size-4 shrink-0 text-good" />
      )}
      <Toast.Content className="min-w-0 flex-1">
        <Toast.Title className="font-medium" />
        <Toast.Description className="mt-0.5 break-words text-ink-soft text-xs" />
      </Toast.Content>
      <Toast.Close
        aria-label="Close"
        className={classes("rounded-control p-0.5 text-ink-faint hover:bg-hover hover:text-ink")}
      >
        <X aria-hidden className="size-4" />
      </Toast.Close>
    </Toast.Root>
  ));
}
