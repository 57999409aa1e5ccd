/** Identifies the file as a Patchboard store: "Pbrd". */
export const APPLICATION_ID = 0x50627264;

/**
 * Forward migrations, one per version. A released migration is never changed.
 * The `user_version` of the file is the number of migrations that were run.
 */
export const MIGRATIONS: readonly string[] = [
  `
  create table calls (
    no integer primary key,
    id text not null unique,
    version integer not null,
    state integer not null,
    created_at integer not null,
    ended_at integer,
    tenant text not null,
    run_id text not null,
    agent_id text not null,
    tool_name text not null,
    tool_version text not null,
    source text not null,
    timeout_ms integer not null,
    decision text not null,
    client_id text,
    target text,
    trace_id text,
    span_id text,
    replay_of text,
    fence text,
    idempotency_scope text,
    idempotency_hash text,
    idempotency_expires_at integer,
    tail text not null,
    args text not null,
    result text
  ) strict;

  -- Every page of a run's calls.
  create index calls_by_run on calls (run_id, tenant, id);

  -- What is open and what went wrong (4 is COMPLETED); most calls leave it again.
  create index calls_not_completed on calls (state, id) where state <> 4;

  create unique index calls_by_idempotency on calls (idempotency_scope) where idempotency_scope is not null;

  create table runs (
    no integer primary key,
    id text not null,
    tenant text not null,
    agent_id text not null,
    created_at integer not null,
    cancelled_at integer,
    unique (id, tenant)
  ) strict;

  create table documents (
    kind text not null,
    id text not null,
    body text not null,
    primary key (kind, id)
  ) without rowid;

  create table tools (
    tenant text not null,
    name text not null,
    client_id text not null,
    wire_name text not null,
    spec text not null,
    registered_at integer not null,
    primary key (tenant, name)
  ) strict, without rowid;

  create table ledger (
    seq integer primary key,
    at integer not null,
    tenant text not null,
    kind text not null,
    call_id text,
    trace_id text,
    body text not null,
    hash text not null
  ) strict;

  create index ledger_by_call on ledger (call_id) where call_id is not null;
  create index ledger_by_trace on ledger (trace_id) where trace_id is not null;

  create trigger ledger_keeps_rows before update on ledger begin
    select raise(abort, 'the ledger is append-only');
  end;
  create trigger ledger_loses_no_rows before delete on ledger begin
    select raise(abort, 'the ledger is append-only');
  end;

  -- Where the ledger ends, so that cutting rows off its end shows.
  create table ledger_head (
    one integer primary key check (one = 1),
    seq integer not null,
    hash text not null
  ) strict;
  insert into ledger_head (one, seq, hash) values (1, 0, '${'0'.repeat(64)}');
  `,
  `
  alter table calls add column parent_call_id text;

  -- What agents write down as they go. Bodies may be large, so it is no table without rowids.
  create table journals (
    entry integer primary key,
    journal text not null,
    no integer not null,
    kind text not null,
    body text not null,
    unique (journal, no)
  ) strict;
  `,
  `
  -- Every page of a run's calls. Written for many calls at once, in order: with each call it would cost a page for
  -- every run that is under way.
  create table calls_of_runs (
    run_id text not null,
    tenant text not null,
    id text not null,
    no integer not null,
    primary key (run_id, tenant, id)
  ) strict, without rowid;
  insert into calls_of_runs select run_id, tenant, id, no from calls order by run_id, tenant, id;

  -- Calls above this number are not in there yet.
  create table calls_of_runs_end (
    one integer primary key check (one = 1),
    no integer not null
  ) strict;
  insert into calls_of_runs_end (one, no) select 1, coalesce(max(no), 0) from calls;

  drop index calls_by_run;
  `,
  'alter table calls add column origin text',
  `
  -- Where the events of each agent, client and tenant are in the ledger: places within blocks of 512 rows. Written
  -- behind the commits, many rows at once, because an index on the ledger would be written with every row.
  create table event_postings (
    tenant text not null,
    scope text not null,
    block integer not null,
    places blob not null,
    primary key (tenant, scope, block)
  ) strict, without rowid;

  -- Blocks from this one on are not in there yet; an existing ledger is indexed while the server runs.
  create table event_postings_end (
    one integer primary key check (one = 1),
    block integer not null
  ) strict;
  insert into event_postings_end (one, block) values (1, 0);
  `,
  `
  -- Told apart from every other store, also by the head file beside it.
  create table store_identity (
    one integer primary key check (one = 1),
    id text not null
  ) strict;
  insert into store_identity (one, id) values (1, lower(hex(randomblob(16))));

  -- Local mode ended with the first key, and does not return with the end of the last.
  insert into documents (kind, id, body)
    select 'local_mode', 'ended', '{}'
    where exists (select 1 from documents where kind = 'key')
      or exists (select 1 from ledger where kind = 'key.created');
  `,
];
