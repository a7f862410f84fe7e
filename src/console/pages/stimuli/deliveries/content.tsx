/** The content of a delivery: as a value where it is one, and byte by byte as it came. Nothing in it is obeyed. */
import { Download } from "lucide-react";
import { useMemo, useState } from "react";
import type { Schemas } from "../../../../programs/client/client.ts";
import { Button } from "../../../kit/controls/button.tsx";
import { Panel } from "../../../kit/page.tsx";
import { Value } from "../../../kit/values/json.tsx";
import { Badge } from "../../../kit/values/status.tsx";
import { CopyButton, Lines } from "../../../kit/values/text.tsx";

type Stimulus = Schemas["Stimulus"];

/** Bytes of a binary content that are shown. */
const shownBytes = 4096;
const bytesInLine = 16;

export function Content({ of }: { readonly of: Stimulus }) {
  const payload = useMemo(() => payloadOf(of), [of]);
  const [isRaw, setRaw] = useState(false);
  const isBinary = of.content_encoding !== "utf-8";
  return (
    <Panel
      title="Payload"
      beside={isBinary ? <Badge>binary</Badge> : payload !== null && <Badge>{payload.kind}</Badge>}
      actions={
        <>
          {payload !== null && (
            <Button small look="ghost" onClick={() => setRaw(!isRaw)}>
              {isRaw ? "As a value" : "As it came"}
            </Button>
          )}
          {!isBinary && <CopyButton value={of.content} label="Copy the content" />}
          <Button small look="ghost" onClick={() => download(of)}>
            <Download aria-hidden />
            <span className="max-sm:sr-only">Download</span>
          </Button>
        </>
      }
    >
      {of.content === "" ? (
        <p className="m-0 text-ink-soft">It came without a body.</p>
      ) : isBinary ? (
        <Lines text={dump(bytesOf(of))} wrap={false} />
      ) : payload === null || isRaw ? (
        <Lines text={of.content} />
      ) : (
        <Value value={payload.value} open={3} />
      )}
    </Panel>
  );
}

/** What a workflow gets as `stimulus_payload`: of JSON its value, of a form its fields; null where it is neither. */
function payloadOf(of: Stimulus): { readonly kind: "JSON" | "form"; readonly value: unknown } | null {
  if (of.content_encoding !== "utf-8") return null;
  if (of.content_type?.startsWith("application/x-www-form-urlencoded") === true) {
    const fields = new URLSearchParams(of.content);
    const inner = parsed(fields.get("payload") ?? "");
    return { kind: "form", value: inner ?? Object.fromEntries(fields) };
  }
  const value = parsed(of.content);
  return value === null ? null : { kind: "JSON", value };
}

/** Objects and arrays only: other values read the same as text. */
function parsed(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}

const bytesOf = (of: Stimulus): Uint8Array<ArrayBuffer> =>
  of.content_encoding === "utf-8"
    ? new TextEncoder().encode(of.content)
    : Uint8Array.from(atob(of.content), (one) => one.charCodeAt(0));

/** @returns lines of `00000010  68 65 6c 6c 6f …  hello` */
function dump(bytes: Uint8Array): string {
  const lines: string[] = [];
  for (let at = 0; at < Math.min(bytes.length, shownBytes); at += bytesInLine) {
    const some = [...bytes.slice(at, at + bytesInLine)];
    const hex = some.map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
    const seen = some.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${at.toString(16).padStart(8, "0")}  ${hex.padEnd(bytesInLine * 3)} ${seen}`);
  }
  const rest = bytes.length - shownBytes;
  return rest > 0 ? `${lines.join("\n")}\n… ${rest.toLocaleString("en")} more bytes` : lines.join("\n");
}

/** As a file that a browser keeps and does not open. */
function download(of: Stimulus): void {
  const url = URL.createObjectURL(new Blob([bytesOf(of)], { type: "application/octet-stream" }));
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = `stimulus-${of.id}.${payloadOf(of)?.kind === "JSON" ? "json" : "bin"}`;
  anchor.click();
  URL.revokeObjectURL(url);
}
