/** The files of an execution: a tree beside what is in the chosen one. */
import { useQuery } from "@tanstack/react-query";
import { File as FileIcon, Folder } from "lucide-react";
import { answer } from "../../../programs/client/client.ts";
import { svc } from "../../app/session/api.ts";
import { classes } from "../../kit/controls/classes.ts";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Empty, Loading, Trouble } from "../../kit/page.tsx";
import { bytesText, FilePreview } from "../../kit/values/file-preview.tsx";
import { inert } from "../../kit/values/text.tsx";

export function Files({ id, isOver }: { readonly id: string; readonly isOver: boolean }) {
  const [{ file: chosen }, change] = useFilters();
  const files = useQuery({
    queryKey: ["execution", "one", id, "files"],
    queryFn: () =>
      answer(svc.GET("/v1/executions/{id}/files", { params: { path: { id }, query: { recursive: true } } })),
  });
  if (files.error !== null) return <Trouble error={files.error} retry={() => void files.refetch()} />;
  if (files.data === undefined) return <Loading className="p-4" />;
  const { items, truncated } = files.data;
  if (items.length === 0)
    return (
      <Empty icon={Folder} title={isOver ? "It left no files" : "No files yet"}>
        What an agent writes below <code>/workspace</code> appears here.
      </Empty>
    );
  const shown = items.find(({ path }) => path === chosen) ?? null;
  return (
    <div className="grid grid-cols-1 lg:grid-cols-[18rem_1fr]">
      <nav aria-label="Files" className="max-h-[36rem] overflow-auto border-line p-2 max-lg:border-b lg:border-r">
        {items.map((entry) => {
          const depth = entry.path.split("/").length - 2;
          const style = { paddingLeft: 8 + depth * 14 };
          const name = (
            <bdi key="name" className="min-w-0 flex-1 truncate text-left">
              {inert(entry.name)}
            </bdi>
          );
          return entry.is_dir ? (
            <div key={entry.path} style={style} className="flex items-center gap-2 py-1 text-ink-soft">
              <Folder aria-hidden className="size-4 shrink-0" />
              {name}
            </div>
          ) : (
            <button
              type="button"
              key={entry.path}
              style={style}
              aria-current={entry.path === chosen}
              onClick={() => change({ file: entry.path })}
              className={classes(
                "flex w-full items-center gap-2 rounded-control py-1 pr-2 hover:bg-hover",
                entry.path === chosen && "bg-selected",
              )}
            >
              <FileIcon aria-hidden className="size-4 shrink-0 text-ink-faint" />
              {name}
              <span className="text-2xs text-ink-faint">{bytesText(entry.size_bytes)}</span>
            </button>
          );
        })}
        {truncated && <p className="m-0 px-2 py-1 text-warn text-xs">There are more files than are listed.</p>}
      </nav>
      <div className="min-w-0 p-4">
        {shown === null ? (
          <p className="m-0 text-ink-soft">Choose a file to see what is in it.</p>
        ) : (
          <FilePreview
            key={shown.path}
            file={{
              name: shown.name,
              size: shown.size_bytes,
              type: shown.mime_type ?? "application/octet-stream",
              url: `/v1/executions/${id}/files${shown.path.split("/").map(encodeURIComponent).join("/")}`,
            }}
          />
        )}
      </div>
    </div>
  );
}
