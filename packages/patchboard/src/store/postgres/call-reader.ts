import { PAGE_CHARACTERS } from '../../core/call/call-size.ts';
import { isOpen, type Call } from '../../core/call/call.ts';
import type { OpenCallFilter } from '../../core/ports.ts';
import { textArray } from '../../postgres/arrays.ts';
import type { Queryable, Statement } from '../../postgres/connection.ts';
import { CallHolders } from './call-holders.ts';
import { CALL_COLUMNS, callOf, type CallRow } from './call-row.ts';
import type { Tables } from './schema.ts';

/** A call with the writer that holds it, or ended it; null: a build that did not record it. */
export interface StoredCall {
  readonly call: Call;
  readonly owner: number | null;
}

export interface CallReaderParts {
  readonly reader: Queryable;
  readonly tables: Tables;
  /** Returns the number of batches that this process, the only writer, has committed. Absent: calls may change at any time. */
  readonly commits?: () => number;
}

interface Search {
  readonly ids: Set<string>;
  readonly found: Promise<ReadonlyMap<string, StoredCall>>;
}

/** Calls read by one statement. */
const AT_ONCE = 500;
/** As many calls as this are read together however large they are: most polls of a client find few. */
const FEW = 8;

/** Reads calls by id. */
export class CallReader {
  readonly holders: CallHolders = new CallHolders();
  readonly #reader: Queryable;
  readonly #commits: (() => number) | undefined;
  readonly #byIds: Statement;
  readonly #sizes: Statement;
  readonly #openIds: Statement;
  readonly #openIdsOf: Statement;
  readonly #openIdsOfClient: Statement;
  /** The ids that are searched in this turn of the event loop; null: none yet. */
  #searched: Search | null = null;

  constructor({ reader, tables, commits }: CallReaderParts) {
    this.#reader = reader;
    this.#commits = commits;
    const columns = CALL_COLUMNS.map(([name]) => `c.${name}`).join(', ');
    this.#byIds = {
      name: 'calls_by_id',
      text: `select ${columns}, s.version, s.state, s.tail, s.result, s.owner ${joined(tables)}`,
    };
    // The length of a large value is known without reading it.
    this.#sizes = {
      name: 'call_sizes',
      text: `select c.id, octet_length(c.args) + s.bytes as bytes ${joined(tables)}`,
    };
    this.#openIds = {
      name: 'open_ids',
      text: `select id from ${tables.open_calls} where id > $1 order by id limit ${AT_ONCE}`,
    };
    this.#openIdsOf = {
      name: 'open_ids_of',
      text: `select o.id from ${tables.open_calls} o join ${tables.calls} c on c.id = o.id
        where o.id > $1 and c.tenant = $2 and ($3::text is null or c.run_id = $3)
        order by o.id limit ${AT_ONCE}`,
    };
    // Clients of two tenants may have the same name, so that the tenant of each of their calls is read.
    this.#openIdsOfClient = {
      name: 'open_ids_of_client',
      text: `select o.id from (select id from ${tables.open_calls} where client_id = $4 and id > $1 order by id) o
        cross join lateral (select tenant, run_id from ${tables.calls} where id = o.id limit 1) c
        where c.tenant = $2 and ($3::text is null or c.run_id = $3) order by o.id limit ${AT_ONCE}`,
    };
  }

  /** All calls that are searched in one turn of the event loop are read by one statement. */
  async find(id: string): Promise<Call | undefined> {
    return (await this.findStored(id))?.call;
  }

  async findStored(id: string): Promise<StoredCall | undefined> {
    // PostgreSQL refuses such a text, and with it all ids of the statement.
    if (id.includes('\0')) return undefined;
    this.#searched ??= this.#searchSoon();
    this.#searched.ids.add(id);
    return (await this.#searched.found).get(id);
  }

  async findMany(ids: Iterable<string>): Promise<Map<string, Call>> {
    const calls = new Map<string, Call>();
    for (const [id, { call }] of await this.#findStoredMany(ids)) calls.set(id, call);
    return calls;
  }

  /** Returns the number of bytes of each call's values. Calls that are not stored are absent. */
  async sizesOf(ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>();
    for (const some of chunks(ids)) {
      const { rows } = await this.#reader.query<{ id: string; bytes: number }>(this.#sizes, [
        textArray(some),
      ]);
      for (const { id, bytes } of rows) sizes.set(id, bytes);
    }
    return sizes;
  }

  /** Yields the open calls, oldest first. A call that was changed since its page was read is read again. */
  async *openCalls(): AsyncIterable<Call> {
    for (let after = ''; ;) {
      const { rows } = await this.#reader.query<{ id: string }>(this.#openIds, [after]);
      const commits = this.#commits?.();
      const page = commits === undefined ? null : await this.findMany(rows.map(({ id }) => id));
      for (const { id } of rows) {
        const isCurrent = page !== null && this.#commits?.() === commits;
        const call = isCurrent ? page.get(id) : await this.find(id);
        if (call !== undefined && isOpen(call)) yield call;
        after = id;
      }
      if (rows.length < AT_ONCE) return;
    }
  }

  /** As `openCalls`, for the calls that match. */
  async *openCallsOf({ tenant, runId, clientId }: OpenCallFilter): AsyncIterable<Call> {
    for (let after = ''; ;) {
      const values = [after, tenant, runId ?? null];
      const { rows } =
        clientId === undefined
          ? await this.#reader.query<{ id: string }>(this.#openIdsOf, values)
          : await this.#reader.query<{ id: string }>(this.#openIdsOfClient, [...values, clientId]);
      const ids = rows.map(({ id }) => id);
      yield* this.openOf(ids, null);
      if (ids.length < AT_ONCE) return;
      after = ids.at(-1) ?? after;
    }
  }

  /**
   * Yields those of the calls that are open, and that `owner` holds, when they are read, in the order of the ids. `owner` null:
   * of any node.
   */
  async *openOf(ids: readonly string[], owner: number | null): AsyncIterable<Call> {
    for (const some of chunks(ids)) {
      // Large calls are not read together: callers use one after the other.
      for (const fitting of some.length <= FEW ? [some] : bySize(some, await this.sizesOf(some))) {
        const calls = await this.#findStoredMany(fitting);
        for (const id of fitting) {
          const stored = calls.get(id);
          const isSought = stored !== undefined && (owner === null || stored.owner === owner);
          if (isSought && isOpen(stored.call)) yield stored.call;
        }
      }
    }
  }

  async #findStoredMany(ids: Iterable<string>): Promise<Map<string, StoredCall>> {
    const calls = new Map<string, StoredCall>();
    for (const some of chunks([...new Set(ids)])) {
      const { rows } = await this.#reader.query<CallRow>(this.#byIds, [textArray(some)]);
      for (const row of rows) {
        const call = callOf(row);
        this.holders.read(call, row.owner);
        calls.set(row.id, { call, owner: row.owner });
      }
    }
    return calls;
  }

  #searchSoon(): Search {
    const ids = new Set<string>();
    const found = new Promise<ReadonlyMap<string, StoredCall>>((resolve, reject) => {
      setImmediate(() => {
        this.#searched = null;
        this.#findStoredMany(ids).then(resolve, reject);
      });
    });
    return { ids, found };
  }
}

/**
 * The calls of the ids `$1`, with their state. One statement sees a call either open or ended. `limit` keeps each subquery a
 * lookup by key in the one partition that can have it, whatever the planner knows about the tables.
 */
function joined({ calls, open_calls: open, ended_calls: ended }: Tables): string {
  return `from unnest($1::text[]) as x (id)
    cross join lateral (select * from ${calls} where id = x.id limit 1) c
    cross join lateral (
      (select version, state, tail, null as result, owner, octet_length(tail) as bytes
       from ${open} where id = x.id limit 1)
      union all
      (select version, state, tail, result, owner, octet_length(tail) + coalesce(octet_length(result), 0)
       from ${ended} where id = x.id limit 1)
      limit 1) s`;
}

function* chunks(ids: readonly string[]): Iterable<readonly string[]> {
  for (let start = 0; start < ids.length; start += AT_ONCE) yield ids.slice(start, start + AT_ONCE);
}

/** Divides the ids into parts that end with the call that reaches the size of a page. Calls of unknown size are not stored. */
function* bySize(ids: readonly string[], sizes: ReadonlyMap<string, number>): Iterable<readonly string[]> {
  let part: string[] = [];
  let bytes = 0;
  for (const id of ids) {
    const size = sizes.get(id);
    if (size === undefined) continue;
    part.push(id);
    bytes += size;
    if (bytes < PAGE_CHARACTERS) continue;
    yield part;
    part = [];
    bytes = 0;
  }
  if (part.length > 0) yield part;
}
