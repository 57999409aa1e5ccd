import type { DatabaseSync, StatementSync } from 'node:sqlite';
import type { EventRowFilter } from '../../core/ledger/event-slice.ts';
import { integer } from './rows.ts';

/** Ledger rows per block. Must never change: posting lists are stored by block number. */
export const BLOCK_ROWS = 512;

/** Posting lists of one scope read for one slice. */
const LISTS_AT_ONCE = 64;

/** Scopes other than those of agents (`a:ID`) and clients (`c:ID`). */
const EVERY_ROW = '*';
const NO_CALL = '-';

/** The fields that determine the scopes of a row. */
export interface PostedRow {
  readonly seq: number;
  readonly tenant: string;
  readonly callId: string | null;
  /** The agent of the call; null if the call is not stored. */
  readonly agentId: string | null;
  readonly clientId: string | null;
}

export function blockOf(seq: number): number {
  return Math.floor((seq - 1) / BLOCK_ROWS);
}

/** The posting lists of one block: for each tenant and scope the offsets of its rows, ascending. */
export class BlockPostings {
  readonly block: number;
  readonly lists: Map<string, Map<string, number[]>> = new Map();

  constructor(block: number) {
    this.block = block;
  }

  /** Must be called in order of sequence. */
  add({ seq, tenant, callId, agentId, clientId }: PostedRow): void {
    const place = seq - 1 - this.block * BLOCK_ROWS;
    let scopes = this.lists.get(tenant);
    if (scopes === undefined) this.lists.set(tenant, (scopes = new Map()));
    post(scopes, EVERY_ROW, place);
    if (callId === null) post(scopes, NO_CALL, place);
    if (agentId !== null) post(scopes, ofAgent(agentId), place);
    if (clientId !== null) post(scopes, ofClient(clientId), place);
  }
}

function post(scopes: Map<string, number[]>, scope: string, place: number): void {
  const places = scopes.get(scope);
  if (places === undefined) scopes.set(scope, [place]);
  else places.push(place);
}

/** Inverted index of event rows: for each tenant and scope, the positions of its rows. */
export class EventPostings {
  readonly #insert: StatementSync;
  readonly #moveEnd: StatementSync;
  readonly #ofScope: StatementSync;
  #blocks: number;

  constructor(database: DatabaseSync) {
    this.#insert = database.prepare(
      'insert into event_postings (tenant, scope, block, places) values (?, ?, ?, ?)',
    );
    this.#moveEnd = database.prepare('update event_postings_end set block = ? where one = 1');
    this.#ofScope = database.prepare(
      'select block, places from event_postings where tenant = ? and scope = ? and block >= ? and block < ? order by block',
    );
    const end = database.prepare('select block from event_postings_end').get();
    this.#blocks = end === undefined ? 0 : integer(end, 'block');
  }

  /** Number of indexed blocks. */
  get blocks(): number {
    return this.#blocks;
  }

  /** Writes the next blocks inside a transaction. `written` must be called when it is durable. */
  write(blocks: readonly BlockPostings[]): void {
    for (const { block, lists } of blocks) {
      for (const [tenant, scopes] of lists) {
        for (const [scope, places] of scopes) this.#insert.run(tenant, scope, block, bytesOf(places));
      }
      this.#moveEnd.run(block + 1);
    }
  }

  written(blocks: readonly BlockPostings[]): void {
    this.#blocks += blocks.length;
  }

  /**
   * Returns the sequences after `after` of the rows in these scopes, ascending, at most `limit`. The result is complete up
   * to `reached`. It may include rows of calls that have been removed.
   */
  find(tenant: string, scopes: readonly string[], after: number, limit: number): FoundSequences {
    const found = new Set<number>();
    let reached = this.#blocks * BLOCK_ROWS;
    for (const scope of scopes)
      reached = Math.min(reached, this.#collect(found, { tenant, scope, after, limit }));
    const seqs = [...found].filter((seq) => seq <= reached).sort((a, b) => a - b);
    const last = seqs[limit - 1];
    return last === undefined ? { seqs, reached } : { seqs: seqs.slice(0, limit), reached: last };
  }

  /** Adds the next sequences of one scope, at most `limit`. Returns the sequence up to which they are complete. */
  #collect(found: Set<number>, of: { tenant: string; scope: string; after: number; limit: number }): number {
    const { tenant, scope, after, limit } = of;
    let added = 0;
    let lists = 0;
    for (const row of this.#ofScope.iterate(tenant, scope, blockOf(after + 1), this.#blocks)) {
      const block = integer(row, 'block');
      for (const place of placesIn(row['places'])) {
        const seq = block * BLOCK_ROWS + place + 1;
        if (seq <= after) continue;
        found.add(seq);
        added += 1;
        if (added === limit) return seq;
      }
      lists += 1;
      if (lists === LISTS_AT_ONCE) return (block + 1) * BLOCK_ROWS;
    }
    return this.#blocks * BLOCK_ROWS;
  }
}

export interface FoundSequences {
  readonly seqs: readonly number[];
  readonly reached: number;
}

/** Returns the scopes of a reader. */
export function scopesOf({ askedOrRunBy }: EventRowFilter): readonly string[] {
  if (askedOrRunBy === undefined) return [EVERY_ROW];
  const { agentId, clientId } = askedOrRunBy;
  return [NO_CALL, ofAgent(agentId), ...(clientId === null ? [] : [ofClient(clientId)])];
}

function ofAgent(id: string): string {
  return `a:${id}`;
}

function ofClient(id: string): string {
  return `c:${id}`;
}

/** Encodes each place in two bytes, little-endian. */
function bytesOf(places: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(places.length * 2);
  places.forEach((place, index) => {
    bytes[index * 2] = place & 0xff;
    bytes[index * 2 + 1] = place >> 8;
  });
  return bytes;
}

function placesIn(bytes: unknown): number[] {
  if (!(bytes instanceof Uint8Array)) throw new Error('a posting list is not a blob');
  const places: number[] = [];
  for (let index = 0; index < bytes.length; index += 2)
    places.push((bytes[index] ?? 0) | ((bytes[index + 1] ?? 0) << 8));
  return places;
}
