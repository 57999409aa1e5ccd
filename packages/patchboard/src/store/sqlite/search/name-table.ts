import type { NamePatterns } from '@patchboard/wire';
import type { DatabaseSync, StatementSync } from 'node:sqlite';
import { BoundedMap } from '../../../core/bounded-map.ts';
import { isPattern, matchesNames } from '../../../core/search/name-patterns.ts';
import { integer, text } from '../rows.ts';

/** What a name is the name of. */
export type NameKind = 'tenant' | 'tool' | 'agent' | 'client' | 'state' | 'code';

/** Names that match, with the number of calls that have one of them. */
export interface FoundNames {
  readonly ids: readonly number[];
  readonly calls: number;
}

/** The tenant of the names of tenants. */
export const NO_TENANT = 0;
/** The id of the code of calls that have none. */
export const NO_CODE = 0;
const CACHED_NAMES = 10_000;

/** Numbers for the names of tenants, tools, agents, clients, states and codes. */
export class NameTable {
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #count: StatementSync;
  readonly #all: StatementSync;
  readonly #ids: BoundedMap<string, number> = new BoundedMap(CACHED_NAMES);

  constructor(database: DatabaseSync) {
    this.#find = database.prepare('select id, calls from names where tenant = ? and kind = ? and name = ?');
    this.#insert = database.prepare('insert into names (tenant, kind, name, calls) values (?, ?, ?, 0)');
    this.#count = database.prepare('update names set calls = calls + ? where id = ?');
    this.#all = database.prepare('select id, name, calls from names where tenant = ? and kind = ?');
  }

  /** Forgets the cached numbers: after a rollback they may not exist. */
  reset(): void {
    this.#ids.clear();
  }

  /** Returns the number of a name, which is added if it is new. */
  idOf(tenant: number, kind: NameKind, name: string): number {
    const key = `${tenant} ${kind} ${name}`;
    const known = this.#ids.use(key);
    if (known !== undefined) return known;
    const row = this.#find.get(tenant, kind, name);
    const id =
      row === undefined ? Number(this.#insert.run(tenant, kind, name).lastInsertRowid) : integer(row, 'id');
    this.#ids.set(key, id);
    return id;
  }

  count(id: number, calls: number): void {
    this.#count.run(calls, id);
  }

  find(tenant: number, kind: NameKind, name: string): FoundNames {
    const row = this.#find.get(tenant, kind, name);
    return row === undefined
      ? { ids: [], calls: 0 }
      : { ids: [integer(row, 'id')], calls: integer(row, 'calls') };
  }

  match(tenant: number, kind: NameKind, patterns: NamePatterns): FoundNames {
    const ids: number[] = [];
    let calls = 0;
    for (const { id, count } of this.#candidates(tenant, kind, patterns)) {
      ids.push(id);
      calls += count;
    }
    return { ids, calls };
  }

  *#candidates(
    tenant: number,
    kind: NameKind,
    patterns: NamePatterns,
  ): Generator<{ readonly id: number; readonly count: number }> {
    const { any, none } = patterns;
    if (any.length > 0 && none.length === 0 && !any.some(isPattern)) {
      for (const name of new Set(any)) {
        const row = this.#find.get(tenant, kind, name);
        if (row !== undefined) yield { id: integer(row, 'id'), count: integer(row, 'calls') };
      }
      return;
    }
    for (const row of this.#all.iterate(tenant, kind))
      if (matchesNames(patterns, text(row, 'name')))
        yield { id: integer(row, 'id'), count: integer(row, 'calls') };
  }
}
