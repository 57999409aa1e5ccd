/** The version of the schema: an index file of another version is made anew. */
export const INDEX_VERSION = 2;

/**
 * The index of calls. `names` has the names of each tenant, with the number of calls that have them, so that a pattern is
 * resolved once, and the rarest criterion is known. Each order of a list has an index; so has everything that selects few
 * calls. Words are separated by spaces: the tokenizer `ascii` only splits there. They are arguments of calls: the table has its
 * content, and `secure-delete`, so that the words of a removed call leave the file. Without them they would stay until SQLite
 * merges the parts of its index, if ever.
 */
export const INDEX_SCHEMA = `
  create table position (one integer primary key check (one = 1), seq integer not null, hash text not null) strict;
  insert into position values (1, 0, '');

  create table names (
    id integer primary key,
    tenant integer not null,
    kind text not null,
    name text not null,
    calls integer not null,
    unique (tenant, kind, name)
  ) strict;

  create table calls (
    n integer primary key,
    tenant integer not null,
    tool integer not null,
    agent integer not null,
    client integer,
    state integer not null,
    code integer not null,
    created integer not null,
    ended integer not null,
    waited integer not null,
    ran integer not null,
    total integer not null,
    id text not null,
    run text not null,
    trace text,
    parent text
  ) strict;
  create index calls_created on calls (tenant, created, id);
  create index calls_waited on calls (tenant, waited, id);
  create index calls_ran on calls (tenant, ran, id);
  create index calls_total on calls (tenant, total, id);
  create index calls_tool on calls (tool);
  create index calls_agent on calls (agent);
  create index calls_client on calls (client) where client is not null;
  create index calls_state on calls (state);
  create index calls_code on calls (code) where code <> 0;
  create index calls_ended on calls (ended);
  create index calls_run on calls (run, tenant, state, ended);
  create index calls_trace on calls (trace) where trace is not null;
  create index calls_parent on calls (parent) where parent is not null;

  create virtual table words using fts5 (phrase, columnsize = 0, tokenize = 'ascii');
  insert into words (words, rank) values ('secure-delete', 1);

  create table refusals (
    seq integer primary key,
    at integer not null,
    tenant text not null,
    agent text not null,
    tool text not null,
    code text not null,
    message text not null,
    trace text,
    unrecorded integer not null
  ) strict;
  create index refusals_at on refusals (at);

  create table metrics (
    width integer not null,
    tenant text not null,
    at integer not null,
    tool text not null,
    agent text not null,
    outcome text not null,
    code text not null,
    count integer not null,
    waited blob not null,
    ran blob not null,
    primary key (width, tenant, at, tool, agent, outcome, code)
  ) strict, without rowid;
`;
