/** How much of a limit is used. */
import type { Schemas } from "../../../programs/client/client.ts";
import { classes } from "../../kit/controls/classes.ts";
import { Panel } from "../../kit/page.tsx";
import { bytesText } from "../../kit/values/file-preview.tsx";

/** From here on the service means: no limit. */
const boundless = Number.MAX_SAFE_INTEGER;
const nearly = 0.9;

export function Used({ used, limit }: { readonly used: number; readonly limit: number }) {
  if (limit >= boundless) return <span className="tabular-nums">{bytesText(used)}</span>;
  const share = limit === 0 ? 0 : Math.min(1, used / limit);
  return (
    <span className="flex min-w-0 flex-col gap-1">
      <span className="whitespace-nowrap text-xs tabular-nums">
        {bytesText(used)} of {bytesText(limit)}
      </span>
      <span aria-hidden className="h-1 w-full max-w-48 overflow-hidden rounded-full bg-hover">
        <span
          className={classes("block h-full", share > nearly ? "bg-bad" : "bg-accent-strong")}
          style={{ width: `${share * 100}%` }}
        />
      </span>
    </span>
  );
}

export function Quota({ quota }: { readonly quota: Schemas["StorageQuota"] }) {
  const limits = { volumes: quota.volume_limit, file: quota.max_file_size_bytes };
  return (
    <Panel>
      <dl className="m-0 grid grid-cols-1 gap-x-8 gap-y-3 sm:grid-cols-3">
        <div>
          <dt className="text-ink-soft text-xs">Storage</dt>
          <dd className="m-0 mt-1">
            <Used used={quota.used_bytes} limit={quota.quota_bytes} />
          </dd>
        </div>
        <div>
          <dt className="text-ink-soft text-xs">Volumes</dt>
          <dd className="m-0 mt-1 tabular-nums">
            {quota.volume_count}
            {limits.volumes < boundless && ` of ${limits.volumes}`}
          </dd>
        </div>
        <div>
          <dt className="text-ink-soft text-xs">Largest file</dt>
          <dd className="m-0 mt-1">{limits.file < boundless ? bytesText(limits.file) : "no limit"}</dd>
        </div>
      </dl>
    </Panel>
  );
}
