-- An index of the files in volumes; see docs/decisions/index-of-files.md.

alter table volumes
  -- Where the index of its files begins: the `parent_id` of what lies at the top. Null: it has none yet.
  add column root_id uuid,
  -- Whether the index says what the volume holds; where it does not, the directory itself is looked into.
  add column indexed boolean not null default false,
  -- Counts what may have changed the files, so that an index made meanwhile is known to be of no use.
  add column file_changes bigint not null default 0,
  -- When the index is made anew at the soonest.
  add column index_due_at timestamptz not null default now();

-- Directories and files by where they lie. A row moves with its directory: it names the parent alone. The parent's id says
-- which volume, which is kept beside it so that a volume's rows are found.
create table volume_entries (
  volume_id   uuid not null references volumes on delete cascade,
  parent_id   uuid not null,
  is_file     boolean not null,
  name        text collate "C" not null,
  -- Of a directory: the `parent_id` of what lies in it. Of a file: where its bytes lie, for stores that name them so.
  entry_id    uuid not null,
  size        bigint not null default 0,
  -- Microseconds since 1970.
  modified_us bigint not null,
  -- Null where the content was not read since it changed.
  sha256      text,
  mime_type   text,
  -- In the order of listings. It is the only index, so that no query can be planned over another one; that no name is both
  -- a file and a directory is held by changes of a volume taking turns.
  primary key (volume_id, parent_id, is_file, name)
);

-- Directories that no path leads to any more, with everything in them, and files of stores that keep bytes by `entry_id`:
-- taken away bit by bit.
create table volume_detached (
  entry_id  uuid primary key,
  volume_id uuid not null references volumes on delete cascade,
  is_file   boolean not null,
  -- Whether what is in it still counts in the figures of the volume.
  counted   boolean not null
);
create index volume_detached_of on volume_detached (volume_id, counted);

-- Changes of files that began and have not said how they ended. One that is old was cut off by a crash.
create table volume_changes (
  change_id  uuid primary key,
  volume_id  uuid not null references volumes on delete cascade,
  created_at timestamptz not null default now()
);
create index volume_changes_of on volume_changes (volume_id);

-- A version without the index says by these what it changed.
create function volume_index_doubted() returns trigger language plpgsql as $$
begin
  new.indexed := false;
  new.file_changes := old.file_changes + 1;
  new.index_due_at := now();
  return new;
end $$;
create trigger volume_index_doubted before update of measured on volumes
  for each row when (not new.measured) execute function volume_index_doubted();

create function volume_file_noted() returns trigger language plpgsql as $$
begin
  update volumes set indexed = false, file_changes = file_changes + 1, index_due_at = now()
  where volume_id = new.volume_id;
  return null;
end $$;
create trigger volume_file_noted after insert or update on volume_files
  for each row execute function volume_file_noted();
