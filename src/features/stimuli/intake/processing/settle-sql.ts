/**
 * Many stimuli brought to their end, or put off, in one statement. What becomes of a replay is told on its original: that
 * it started a run, or why it did not; the original stays the one dead letter. `told` names the lists in their order:
 *
 * $1 to $7  texts; `details` and `classification` are JSON, empty for null
 * $8        when each is tried again, Unix milliseconds; 0: never
 * $9        now
 * $10       whether the answer need not wait for the flush
 * $11       the attempt that tells it: one that another attempt has taken over from may still say that the run was
 *           started, which is true of every attempt, and nothing else
 *
 * `before` is no constant in the condition: the planner would look for the rows among all that are `received`.
 */
export const settleText = `
with told as materialized (
  select *, 'received' as before from unnest($1::text[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[],
    $7::text[], $8::bigint[], $11::int[])
    as t (tenant, id, status, code, message, details, classification, due_at, attempt)
), changed as (
  update stimuli s set
    status = t.status,
    dead_letter = t.status not in ('classified', 'received')
      and not exists (select from stimuli o where o.tenant = s.tenant and o.id = s.replay_of),
    error_code = nullif(t.code, ''),
    error_message = nullif(t.message, ''),
    error_details = nullif(t.details, '')::jsonb,
    classification = nullif(t.classification, '')::jsonb,
    router_execution_id = case when t.status <> 'received' then s.router_execution_id end,
    failures = s.failures + case when t.status = 'classified' then 0 else 1 end,
    due_at = case when t.due_at = 0 then s.received_at else to_timestamp(t.due_at / 1000.0) end,
    last_event_at = $9
  from told t
  where s.tenant = t.tenant and s.id = t.id and s.status = t.before
    and (t.status = 'classified' or s.attempts = t.attempt)
  returning s.tenant, s.id, s.source, s.status, s.idempotency_key, s.guard_digest, s.replay_of,
    s.error_code, s.error_message, s.error_details, s.classification
), released as (
  delete from stimulus_keys where ctid = any (array(
    select k.ctid from changed c, lateral (
      select k.ctid from stimulus_keys k where k.tenant = c.tenant and k.source = c.source
        and k.key_digest = coalesce(sha256(convert_to(c.idempotency_key, 'UTF8')), c.guard_digest)
        and k.stimulus_id = c.id
      offset 0) k
    where c.status not in ('classified', 'received')
      and (c.idempotency_key is not null or c.guard_digest is not null)))
), replayed as (
  update stimuli o set dead_letter = false, replayed_by = c.id, last_event_at = $9
  from changed c
  where c.status = 'classified' and c.replay_of is not null and o.tenant = c.tenant and o.id = c.replay_of
), failed_again as (
  update stimuli o set status = c.status, error_code = c.error_code, error_message = c.error_message,
    error_details = c.error_details, classification = c.classification, attempts = o.attempts + 1, last_event_at = $9
  from changed c
  where c.status not in ('classified', 'received') and c.replay_of is not null
    and o.tenant = c.tenant and o.id = c.replay_of and o.dead_letter
)
select c.tenant, c.id, (select case when $10::boolean then set_config('synchronous_commit', 'off', true) end) from changed c`;
