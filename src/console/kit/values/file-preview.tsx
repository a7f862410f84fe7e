/** A file of the service: shown where it is text or a picture, and to be kept on the reader's own disk. */
import { useQuery } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { svc } from "../../app/session/api.ts";
import { Button } from "../controls/button.tsx";
import { tellError } from "../dialogs/toast.tsx";
import { Loading, Trouble } from "../page.tsx";
import { Value } from "./json.tsx";
import { inert, Lines } from "./text.tsx";

export interface ShownFile {
  readonly name: string;
  readonly size: number;
  readonly type: string;
  /** The address of its bytes at the service. */
  readonly url: string;
}

/** Larger files are not fetched to be looked at, bytes. */
const largestShown = 2_000_000;
const pictures = /^image\/(png|jpeg|gif|webp|avif|bmp|svg\+xml)$/;
const texts = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|x-sh|sql)|.*\+(json|xml)$)/;

/** @returns `1.4 MB` */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let unit = 0;
  let value = bytes;
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_000;
    unit += 1;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[unit]}`;
}

/** Fetches a file with the caller's identity and hands it to the browser. */
async function download({ url, name }: Pick<ShownFile, "url" | "name">): Promise<void> {
  try {
    const response = await svc.send(url);
    const address = URL.createObjectURL(await response.blob());
    const link = document.createElement("a");
    link.href = address;
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000);
  } catch (error) {
    tellError(`${name} was not downloaded`, error);
  }
}

function DownloadButton({ file }: { readonly file: ShownFile }) {
  const [busy, setBusy] = useState(false);
  return (
    <Button
      small
      busy={busy}
      onClick={() => {
        setBusy(true);
        void download(file).finally(() => setBusy(false));
      }}
    >
      <Download aria-hidden />
      Download
    </Button>
  );
}

export function FilePreview({ file }: { readonly file: ShownFile }) {
  const isPicture = pictures.test(file.type);
  const isShown = file.size <= largestShown;
  const content = useQuery({
    queryKey: ["file", file.url, file.size],
    queryFn: async () => (await svc.send(file.url)).arrayBuffer(),
    enabled: isShown,
    gcTime: 10_000,
  });
  return (
    <div className="flex min-w-0 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <bdi className="min-w-0 flex-1 truncate font-medium">{inert(file.name)}</bdi>
        <span className="text-ink-faint text-xs">
          {file.type} · {bytesText(file.size)}
        </span>
        <DownloadButton file={file} />
      </div>
      {!isShown ? (
        <p className="m-0 text-ink-soft">It is too large to be shown here.</p>
      ) : content.error !== null ? (
        <Trouble error={content.error} retry={() => void content.refetch()} />
      ) : content.data === undefined ? (
        <Loading lines={5} />
      ) : isPicture ? (
        <Picture bytes={content.data} type={file.type} name={file.name} />
      ) : (
        <Text bytes={content.data} type={file.type} />
      )}
    </div>
  );
}

/** An image element runs no script, also none of an SVG. */
function Picture({ bytes, type, name }: { readonly bytes: ArrayBuffer; readonly type: string; readonly name: string }) {
  const [address, setAddress] = useState<string | null>(null);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([bytes], { type }));
    setAddress(made);
    return () => URL.revokeObjectURL(made);
  }, [bytes, type]);
  if (address === null) return null;
  return (
    <img src={address} alt={inert(name)} className="max-h-[30rem] max-w-full self-start rounded-control bg-sunken" />
  );
}

function Text({ bytes, type }: { readonly bytes: ArrayBuffer; readonly type: string }) {
  const text = useMemo(() => {
    try {
      return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    } catch {
      return null;
    }
  }, [bytes]);
  if (text === null || (text.includes("\0") && !texts.test(type)))
    return <p className="m-0 text-ink-soft">These are bytes that are no text.</p>;
  if (text === "") return <p className="m-0 text-ink-soft">The file is empty.</p>;
  if (type.endsWith("json")) {
    try {
      return <Value value={JSON.parse(text)} />;
    } catch {
      return <Lines text={text} />;
    }
  }
  return <Lines text={text} />;
}
