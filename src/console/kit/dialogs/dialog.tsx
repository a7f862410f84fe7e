/** A question or a form before everything else. */
import { Dialog as Base } from "@base-ui/react/dialog";
import { X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { Button } from "../controls/button.tsx";
import { classes } from "../controls/classes.ts";
import { Input } from "../controls/field.tsx";
import { Trouble } from "../page.tsx";

interface DialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly about?: ReactNode;
  /** Buttons at the bottom. */
  readonly actions?: ReactNode;
  readonly size?: "small" | "large";
  readonly children?: ReactNode;
}

export function Dialog({ open, onClose, title, about, actions, size = "small", children }: DialogProps) {
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-black/40 transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Popup
          className={classes(
            "pop fixed top-[min(12vh,6rem)] left-1/2 z-40 flex max-h-[80dvh] w-[calc(100vw-2rem)] -translate-x-1/2 flex-col outline-none",
            size === "small" ? "max-w-md" : "max-w-4xl",
          )}
        >
          <header className="flex items-start gap-3 px-4 pt-4">
            <div className="min-w-0 flex-1">
              <Base.Title className="m-0 font-semibold text-base">{title}</Base.Title>
              {about !== undefined && (
                <Base.Description render={<div />} className="mt-1 text-ink-soft">
                  {about}
                </Base.Description>
              )}
            </div>
            <Base.Close aria-label="Close" className="rounded-control p-1 text-ink-faint hover:bg-hover hover:text-ink">
              <X aria-hidden className="size-4" />
            </Base.Close>
          </header>
          <div className="min-h-0 flex-1 overflow-auto px-4 py-3">{children}</div>
          {actions !== undefined && (
            <footer className="flex flex-wrap justify-end gap-2 border-line border-t px-4 py-3">{actions}</footer>
          )}
        </Base.Popup>
      </Base.Portal>
    </Base.Root>
  );
}

interface ConfirmProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  /** What will happen, and what cannot be undone. */
  readonly about: ReactNode;
  /** The verb on the button. */
  readonly verb: string;
  readonly danger?: boolean;
  /** Has to be typed before the button works: for what cannot be undone and is large. */
  readonly typed?: string;
  readonly onConfirm: () => Promise<unknown>;
  readonly children?: ReactNode;
}

/** Asks before something is done, shows that it is under way, and stays open with the reason when it fails. */
export function Confirm({
  open,
  onClose,
  title,
  about,
  verb,
  danger = false,
  typed,
  onConfirm,
  children,
}: ConfirmProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [text, setText] = useState("");
  const close = () => {
    setError(null);
    setText("");
    onClose();
  };
  const confirm = async () => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
      close();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={title}
      about={about}
      actions={
        <>
          <Button look="ghost" onClick={close}>
            {danger ? "Keep as it is" : "Cancel"}
          </Button>
          <Button
            look={danger ? "danger" : "primary"}
            busy={busy}
            disabled={typed !== undefined && text !== typed}
            onClick={confirm}
          >
            {verb}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        {children}
        {typed !== undefined && <Input label={`Type “${typed}” to go on`} value={text} onChange={setText} />}
        {error !== null && <Trouble error={error} />}
      </div>
    </Dialog>
  );
}
