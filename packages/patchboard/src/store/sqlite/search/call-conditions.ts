import type { MsRange, NamePatterns } from '@patchboard/wire';
import type { SQLInputValue } from 'node:sqlite';
import type { CallCriteria } from '../../../core/search/call-search.ts';
import { matchesNames } from '../../../core/search/name-patterns.ts';
import { wordsOf } from '../../../core/search/words.ts';
import { NO_CODE, NO_TENANT, type FoundNames, type NameKind, type NameTable } from './name-table.ts';

/** A part of a statement, with the values of its parameters. */
export interface Sql {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

/** Selects the numbers of all calls that match one criterion, by an index; `calls` is their number, if it is known. */
interface Narrowing extends Sql {
  readonly calls?: number;
}

export interface CallConditions {
  readonly tenant: number;
  /** Conditions of a call, except its text. The `+` keeps SQLite from choosing an index by itself. */
  readonly all: readonly Sql[];
  readonly narrowing: readonly Narrowing[];
  /** Expression for the index of words; null: any text. */
  readonly match: string | null;
}

/** Returns null if no call matches. */
export function callConditions(criteria: CallCriteria, names: NameTable): CallConditions | null {
  const { ids, calls } = names.find(NO_TENANT, 'tenant', criteria.tenant);
  const [tenant] = ids;
  if (tenant === undefined) return null;
  const builder = new ConditionBuilder(tenant, names);
  builder.addEqual('tenant', 'tenant = ?', tenant, calls);
  builder.addNames(criteria);
  builder.addParty(criteria.askedOrRunBy);
  for (const [column, value] of [
    ['run', criteria.runId],
    ['trace', criteria.traceId],
    ['parent', criteria.parentCallId],
  ] as const)
    if (value !== undefined) builder.addEqual(column, `${column} = ?`, value);
  builder.addRange('created', { atLeast: criteria.since, below: criteria.until });
  builder.addRange('waited', criteria.waitedMs ?? {});
  builder.addRange('ran', criteria.ranMs ?? {});
  builder.addRange('total', criteria.totalMs ?? {});
  builder.addTexts(criteria.texts ?? []);
  return builder.build();
}

class ConditionBuilder {
  readonly #tenant: number;
  readonly #names: NameTable;
  readonly #all: Sql[] = [];
  readonly #narrowing: Narrowing[] = [];
  #match: string | null = null;
  #isNever = false;

  constructor(tenant: number, names: NameTable) {
    this.#tenant = tenant;
    this.#names = names;
  }

  build(): CallConditions | null {
    if (this.#isNever) return null;
    return { tenant: this.#tenant, all: this.#all, narrowing: this.#narrowing, match: this.#match };
  }

  addEqual(column: string, indexed: string, value: SQLInputValue, calls?: number): void {
    this.#all.push({ sql: `+${column} = ?`, values: [value] });
    const narrowing = { sql: `select n from calls where ${indexed}`, values: [value] };
    this.#narrowing.push(calls === undefined ? narrowing : { ...narrowing, calls });
  }

  addNames({ toolName, agentId, clientId, tools, agents, codes, states }: CallCriteria): void {
    if (toolName !== undefined) this.#addFound('tool', this.#find('tool', toolName));
    if (agentId !== undefined) this.#addFound('agent', this.#find('agent', agentId));
    if (clientId !== undefined) this.#addFound('client', this.#find('client', clientId));
    if (tools !== undefined) this.#addFound('tool', this.#matching('tool', tools));
    if (agents !== undefined) this.#addFound('agent', this.#matching('agent', agents));
    if (states !== undefined) this.#addFound('state', this.#states(states));
    if (codes === undefined) return;
    const found = this.#matching('code', codes);
    // Most calls have no code, so that no index has them.
    if (matchesNames(codes, null)) this.#all.push(isIn('code', [NO_CODE, ...found.ids]));
    else this.#addFound('code', found);
  }

  /** The caller sees calls that it submitted, or that it runs. */
  addParty(party: CallCriteria['askedOrRunBy']): void {
    if (party === undefined) return;
    const agent = this.#find('agent', party.agentId);
    const client = party.clientId === null ? NONE : this.#find('client', party.clientId);
    if (agent.ids.length + client.ids.length === 0) this.#isNever = true;
    const values = [agent.ids[0] ?? null, client.ids[0] ?? null];
    this.#all.push({ sql: '(+agent = ? or +client = ?)', values });
    this.#narrowing.push({
      sql: 'select n from calls where agent = ? union select n from calls where client = ?',
      values,
      calls: agent.calls + client.calls,
    });
  }

  addRange(column: 'created' | 'waited' | 'ran' | 'total', { atLeast, below }: Partial<Bounds>): void {
    const conditions: [string, number][] = [];
    if (atLeast !== undefined) conditions.push([`${column} >= ?`, atLeast]);
    if (below !== undefined) conditions.push([`${column} < ?`, below]);
    if (conditions.length === 0) return;
    for (const [sql, value] of conditions) this.#all.push({ sql: `+${sql}`, values: [value] });
    const where = conditions.map(([sql]) => sql).join(' and ');
    this.#narrowing.push({
      sql: `select n from calls where tenant = ? and ${where}`,
      values: [this.#tenant, ...conditions.map(([, value]) => value)],
    });
  }

  addTexts(texts: readonly string[]): void {
    // Words contain no quotes.
    const phrases = texts.map((text) => `"${wordsOf(text).join(' ')}"`);
    if (phrases.length === 0) return;
    this.#match = phrases.join(' AND ');
    this.#narrowing.push({ sql: 'select rowid from words where words match ?', values: [this.#match] });
  }

  #addFound(column: NameKind, { ids, calls }: FoundNames): void {
    if (ids.length === 0) this.#isNever = true;
    const condition = isIn(column, ids);
    this.#all.push(condition);
    const indexed = condition.sql.slice(1) + (column === 'code' ? ` and code <> ${NO_CODE}` : '');
    const sql = `select n from calls where ${indexed}`;
    this.#narrowing.push({ sql, values: condition.values, calls });
  }

  #states(states: readonly string[]): FoundNames {
    return states.length === 0 ? NONE : this.#matching('state', { any: states, none: [] });
  }

  #find(kind: NameKind, name: string): FoundNames {
    return this.#names.find(this.#tenant, kind, name);
  }

  #matching(kind: NameKind, patterns: NamePatterns): FoundNames {
    return this.#names.match(this.#tenant, kind, patterns);
  }
}

interface Bounds {
  readonly atLeast: MsRange['atLeast'];
  readonly below: MsRange['below'];
}

const NONE: FoundNames = { ids: [], calls: 0 };

function isIn(column: string, ids: readonly number[]): Sql {
  return ids.length === 1
    ? { sql: `+${column} = ?`, values: [...ids] }
    : { sql: `+${column} in (select value from json_each(?))`, values: [JSON.stringify(ids)] };
}
