-- Volumes whose bytes lie in a store of objects; see docs/decisions/volumes-in-objects.md.

-- Where the bytes of a volume lie; it is decided when the volume is made. Volumes of runs lie on the node that runs them.
alter table volumes add column backend text not null default 'local' check (backend in ('local', 's3'));

-- Since when no path leads there: what was found a moment before may still be read.
alter table volume_detached add column detached_at timestamptz not null default now();

create index volume_detached_files on volume_detached (detached_at) where is_file;

-- Objects that were begun and that no path leads to yet. One whose time is over was left by a crash.
create table volume_drafts (
  entry_id   uuid primary key,
  volume_id  uuid not null references volumes on delete restrict,
  -- Names the upload in parts at the store; null: it is sent as one, or has not begun.
  upload_id  text,
  -- Set: it is being taken away, and can be put at no path any more.
  erasing    boolean not null default false,
  created_at timestamptz not null default now()
);
create index volume_drafts_of on volume_drafts (volume_id);
create index volume_drafts_by_age on volume_drafts (created_at);

-- Instances that may write to the copy of a volume on a host: what they changed there is not in the store yet.
create table volume_stagings (
  volume_id    uuid not null references volumes on delete cascade,
  instance_id  uuid not null,
  execution_id uuid not null,
  tenant       text not null,
  host         text not null,
  created_at   timestamptz not null default now(),
  primary key (volume_id, host, instance_id)
);
create index volume_stagings_of_host on volume_stagings (host, instance_id);

-- Of a volume, what lies on a host: one process at a time brings the two into line.
create table volume_copies (
  volume_id  uuid not null references volumes on delete cascade,
  host       text not null,
  -- Null: none at the moment.
  busy_until timestamptz,
  busy_by    uuid,
  used_at    timestamptz not null default now(),
  primary key (volume_id, host)
);
