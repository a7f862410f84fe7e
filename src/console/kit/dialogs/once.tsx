/** A value that is shown once, at its making. */
import { Button } from "../controls/button.tsx";
import { Command } from "../values/text.tsx";
import { Dialog } from "./dialog.tsx";

interface OnceProps {
  readonly title: string;
  /** Null: nothing is shown. */
  readonly value: string | null;
  readonly about: string;
  readonly onClose: () => void;
  readonly children?: React.ReactNode;
}

export function Once({ title, value, about, onClose, children }: OnceProps) {
  return (
    <Dialog
      open={value !== null}
      onClose={onClose}
      title={title}
      about={about}
      actions={
        <Button look="primary" onClick={onClose}>
          I have kept it
        </Button>
      }
    >
      <div className="flex flex-col gap-3">
        {value !== null && <Command text={value} />}
        {children}
      </div>
    </Dialog>
  );
}
