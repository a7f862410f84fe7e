/** The folders and files of a volume, one folder at a time; files are dropped into it. */
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { File as FileIcon, Folder, FolderPlus, MoreHorizontal, Pencil, Trash2, Upload } from "lucide-react";
import { type DragEvent, useRef, useState } from "react";
import { answer, type Schemas } from "../../../programs/client/client.ts";
import { upload } from "../../../programs/client/upload.ts";
import { svc } from "../../app/session/api.ts";
import { useCan } from "../../app/session/session.ts";
import { Button, IconButton } from "../../kit/controls/button.tsx";
import { classes } from "../../kit/controls/classes.ts";
import { Input } from "../../kit/controls/field.tsx";
import { useFilters } from "../../kit/controls/filters.tsx";
import { Menu } from "../../kit/controls/menu.tsx";
import { Confirm, Dialog } from "../../kit/dialogs/dialog.tsx";
import { tell, tellError } from "../../kit/dialogs/toast.tsx";
import { Empty, Loading, Panel, Trouble } from "../../kit/page.tsx";
import { bytesText, FilePreview } from "../../kit/values/file-preview.tsx";
import { inert } from "../../kit/values/text.tsx";
import { Ago } from "../../kit/values/time.tsx";

type Entry = Schemas["FileEntry"];
type Asked = { readonly what: "folder" } | { readonly what: "move" | "delete"; readonly entry: Entry };

const joined = (folder: string, name: string) => `${folder === "/" ? "" : folder}/${name}`;

export function Browser({ id }: { readonly id: string }) {
  const mayWrite = useCan()("volume:write");
  const queries = useQueryClient();
  const [{ path = "/", file: shownPath }, change] = useFilters();
  const [asked, ask] = useState<Asked | null>(null);
  const [name, setName] = useState("");
  /** Share of what is sent, 0 to 1; null: nothing is. */
  const [sent, setSent] = useState<number | null>(null);
  const [isOver, setOver] = useState(false);
  const picker = useRef<HTMLInputElement>(null);
  const params = { path: { id } };
  const files = useQuery({
    queryKey: ["volume", "one", id, "files", path],
    queryFn: () => answer(svc.GET("/v1/volumes/{id}/files", { params: { ...params, query: { path, limit: 200 } } })),
  });
  const renew = () => queries.invalidateQueries({ queryKey: ["volume"] });
  const send = async (chosen: readonly File[]) => {
    for (const one of chosen) {
      const where = encodeURIComponent(joined(path, one.name));
      try {
        setSent(0);
        await upload(svc, `/v1/volumes/${id}/files/upload?path=${where}`, one, {
          onProgress: (bytes, total) => setSent(total === 0 ? 1 : bytes / total),
        });
        tell(`${one.name} is uploaded`);
      } catch (error) {
        tellError(`${one.name} was not uploaded`, error);
      }
    }
    setSent(null);
    await renew();
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    if (mayWrite) void send([...event.dataTransfer.files]);
  };
  const entries = [...(files.data?.items ?? [])].sort(
    (a, b) => Number(b.is_dir) - Number(a.is_dir) || a.name.localeCompare(b.name),
  );
  const shown = entries.find((entry) => entry.path === shownPath && !entry.is_dir) ?? null;
  return (
    <Panel
      flush
      title="Files"
      className={classes(isOver && "border-accent")}
      actions={
        mayWrite && (
          <>
            <Button
              small
              onClick={() => {
                setName("");
                ask({ what: "folder" });
              }}
            >
              <FolderPlus aria-hidden />
              New folder
            </Button>
            <Button small look="primary" busy={sent !== null} onClick={() => picker.current?.click()}>
              {sent === null && <Upload aria-hidden />}
              {sent === null ? "Upload" : `${Math.round(sent * 100)} %`}
            </Button>
            <input
              ref={picker}
              type="file"
              multiple
              hidden
              aria-label="Files to upload"
              onChange={({ target }) => {
                void send([...(target.files ?? [])]);
                target.value = "";
              }}
            />
          </>
        )
      }
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button "Upload" does the same by keyboard */}
      <div
        onDragOver={(event) => {
          event.preventDefault();
          setOver(mayWrite);
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <Crumbs path={path} open={(next) => change({ path: next === "/" ? "" : next })} />
        {files.error !== null ? (
          <Trouble error={files.error} retry={() => void files.refetch()} />
        ) : files.data === undefined ? (
          <Loading className="p-4" />
        ) : entries.length === 0 ? (
          <Empty icon={Folder} title="The folder is empty">
            {mayWrite ? "Drop files here, or choose some with “Upload”." : "Nothing was put here yet."}
          </Empty>
        ) : (
          <ul aria-label="Files" className="m-0 list-none p-0">
            {entries.map((entry) => (
              <li
                key={entry.path}
                className="flex min-w-0 items-center gap-3 border-line border-b px-4 py-1.5 last:border-b-0 hover:bg-hover"
              >
                <button
                  type="button"
                  className="flex min-w-0 flex-1 items-center gap-2 py-1 text-left hover:underline"
                  onClick={() => change(entry.is_dir ? { path: entry.path } : { file: entry.path })}
                >
                  {entry.is_dir ? (
                    <Folder aria-hidden className="size-4 shrink-0 text-accent" />
                  ) : (
                    <FileIcon aria-hidden className="size-4 shrink-0 text-ink-faint" />
                  )}
                  <bdi className="truncate">{inert(entry.name)}</bdi>
                </button>
                <span className="shrink-0 text-ink-soft text-xs tabular-nums">
                  {entry.is_dir ? "" : bytesText(entry.size_bytes)}
                </span>
                <span className="hidden w-20 shrink-0 text-right text-ink-soft text-xs sm:block">
                  <Ago at={entry.modified_at} />
                </span>
                <Menu
                  trigger={
                    <IconButton label={`What can be done with ${inert(entry.name)}`}>
                      <MoreHorizontal aria-hidden />
                    </IconButton>
                  }
                  items={[
                    mayWrite && {
                      label: "Move or rename",
                      icon: Pencil,
                      onClick: () => {
                        setName(entry.path);
                        ask({ what: "move", entry });
                      },
                    },
                    mayWrite && {
                      label: "Delete",
                      icon: Trash2,
                      danger: true,
                      onClick: () => ask({ what: "delete", entry }),
                    },
                  ]}
                />
              </li>
            ))}
          </ul>
        )}
        <Cut isCut={files.data?.next_cursor != null} />
      </div>
      <Dialog open={shown !== null} onClose={() => change({ file: "" })} size="large" title={inert(shown?.name ?? "")}>
        {shown !== null && (
          <FilePreview
            key={shown.path}
            file={{
              name: shown.name,
              size: shown.size_bytes,
              type: shown.mime_type ?? "application/octet-stream",
              url: `/v1/volumes/${id}/files/download?path=${encodeURIComponent(shown.path)}`,
            }}
          />
        )}
      </Dialog>
      <Confirm
        open={asked?.what === "folder"}
        onClose={() => ask(null)}
        title="New folder"
        about={`In ${inert(path)}`}
        verb="Make the folder"
        onConfirm={async () => {
          const body = { path: joined(path, name.trim()) };
          await answer(svc.POST("/v1/volumes/{id}/files/mkdir", { params, body }));
          await renew();
        }}
      >
        <Input label="Name" value={name} onChange={setName} autoFocus />
      </Confirm>
      <Confirm
        open={asked?.what === "move"}
        onClose={() => ask(null)}
        title="Move or rename"
        about="What is there already is not replaced."
        verb="Move"
        onConfirm={async () => {
          if (asked?.what !== "move") return;
          const body = { from: asked.entry.path, to: name.trim() };
          await answer(svc.POST("/v1/volumes/{id}/files/move", { params, body }));
          await renew();
        }}
      >
        <Input label="New path" mono value={name} onChange={setName} autoFocus />
      </Confirm>
      <Confirm
        open={asked?.what === "delete"}
        onClose={() => ask(null)}
        title={asked?.what === "delete" ? `Delete ${inert(asked.entry.name)}?` : ""}
        about="A folder is deleted with all that is in it. This cannot be undone."
        verb="Delete"
        danger
        onConfirm={async () => {
          if (asked?.what !== "delete") return;
          const query = { path: asked.entry.path };
          await answer(svc.DELETE("/v1/volumes/{id}/files", { params: { ...params, query } }));
          await renew();
        }}
      />
    </Panel>
  );
}

function Cut({ isCut }: { readonly isCut: boolean }) {
  if (!isCut) return null;
  return <p className="m-0 px-4 py-2 text-warn text-xs">The folder holds more than the 200 entries that are shown.</p>;
}

/** `/` › `reports` › `2026`: each leads there. */
function Crumbs({ path, open }: { readonly path: string; readonly open: (path: string) => void }) {
  const parts = path.split("/").filter((part) => part !== "");
  const crumbs = [
    { path: "/", name: "All files" },
    ...parts.map((name, place) => ({ path: `/${parts.slice(0, place + 1).join("/")}`, name })),
  ];
  return (
    <nav aria-label="Folder" className="flex flex-wrap items-center gap-1 border-line border-b px-4 py-2 text-xs">
      {crumbs.map((crumb, place) => (
        <span key={crumb.path} className="flex min-w-0 items-center gap-1">
          {place > 0 && <span className="text-ink-faint">/</span>}
          {place === crumbs.length - 1 ? (
            <bdi className="truncate font-medium">{inert(crumb.name)}</bdi>
          ) : (
            <button type="button" className="text-accent hover:underline" onClick={() => open(crumb.path)}>
              <bdi>{inert(crumb.name)}</bdi>
            </button>
          )}
        </span>
      ))}
    </nav>
  );
}
