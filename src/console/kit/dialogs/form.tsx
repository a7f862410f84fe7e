/** A dialog with a form: sends it, shows what was refused, and closes when it is done. */
import { type ReactNode, useState } from "react";
import { Button } from "../controls/button.tsx";
import { Trouble } from "../page.tsx";
import { Dialog } from "./dialog.tsx";

interface FormDialogProps {
  readonly open: boolean;
  readonly onClose: () => void;
  readonly title: string;
  readonly about?: ReactNode;
  /** The verb on the button. */
  readonly verb: string;
  readonly disabled?: boolean;
  readonly size?: "small" | "large";
  /** Resolves when it is done. */
  readonly onSend: () => Promise<unknown>;
  readonly children: ReactNode;
}

export function FormDialog({
  open,
  onClose,
  title,
  about,
  verb,
  disabled = false,
  size,
  onSend,
  children,
}: FormDialogProps) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const close = () => {
    setError(null);
    onClose();
  };
  const send = async () => {
    setBusy(true);
    setError(null);
    try {
      await onSend();
      close();
    } catch (failure) {
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog open={open} onClose={close} title={title} about={about} {...(size === undefined ? {} : { size })}>
      <form
        className="flex flex-col gap-3 pb-1"
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
      >
        {children}
        {error !== null && <Trouble error={error} />}
        <div className="mt-1 flex justify-end gap-2">
          <Button look="ghost" onClick={close}>
            Cancel
          </Button>
          <Button look="primary" type="submit" busy={busy} disabled={disabled}>
            {verb}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
