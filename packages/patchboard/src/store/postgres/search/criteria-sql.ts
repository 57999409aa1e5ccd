import type { MsRange, NamePatterns } from '@patchboard/wire';
import type { CallCriteria, RefusalCriteria } from '../../../core/search/call-search.ts';
import { OTHER_NAME } from '../../../core/search/metric-groups.ts';
import { isPattern } from '../../../core/search/name-patterns.ts';
import { wordsOf } from '../../../core/search/words.ts';
import { int4Array, textArray } from '../../../postgres/arrays.ts';
import { STATE_CODES } from '../../state-codes.ts';
import type { Tables } from '../schema.ts';
import { NAME_KINDS, type NameKind } from './batch-values.ts';
import { phrasesQuery } from './text-vector.ts';

/** Conditions of one statement, joined by `and`, with the values of their parameters. */
export class Conditions {
  readonly #tables: Tables;
  readonly #texts: string[] = [];
  readonly values: unknown[] = [];

  constructor(tables: Tables) {
    this.#tables = tables;
  }

  get text(): string {
    return this.#texts.length === 0 ? 'true' : this.#texts.join(' and ');
  }

  /** Adds a value; returns its parameter as SQL. */
  parameter(type: 'text' | 'text[]' | 'int4[]' | 'int8' | 'tsquery', value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }

  add(text: string): void {
    this.#texts.push(text);
  }

  equals(column: string, value: string | undefined): void {
    if (value !== undefined) this.add(`${column} = ${this.parameter('text', value)}`);
  }

  inRange(column: string, { atLeast, below }: MsRange = {}): void {
    if (atLeast !== undefined) this.add(`${column} >= ${this.parameter('int8', atLeast)}`);
    if (below !== undefined) this.add(`${column} < ${this.parameter('int8', below)}`);
  }

  /** As `matchesNames`. Patterns are compared with each name once, not with each row. `tenant`: null for all. */
  names(column: string, kind: NameKind, patterns: NamePatterns | undefined, tenant: string | null): void {
    if (patterns === undefined) return;
    const [any, none] = [patterns.any, patterns.none].map((names) =>
      this.#oneOf(column, kind, names, tenant),
    );
    if (any !== undefined && any !== null) this.add(any);
    if (none !== undefined && none !== null) this.add(`(${none}) is not true`);
  }

  #oneOf(column: string, kind: NameKind, names: readonly string[], tenant: string | null): string | null {
    const exact = names.filter((name) => !isPattern(name));
    const patterns = names.filter(isPattern).map(likeOf);
    const tests: string[] = [];
    if (exact.length > 0) tests.push(`${column} = any(${this.parameter('text[]', textArray(exact))})`);
    if (patterns.length > 0) {
      const like = `like any(${this.parameter('text[]', textArray(patterns))})`;
      const own = tenant === null ? '' : `tenant = ${this.parameter('text', tenant)} and `;
      tests.push(`${column} in (
        select name from ${this.#tables.indexed_names} where ${own}kind = ${NAME_KINDS[kind]} and name ${like}
        union all select '${OTHER_NAME}' where '${OTHER_NAME}' ${like})`);
    }
    return tests.length === 0 ? null : `(${tests.join(' or ')})`;
  }
}

/** `like` treats a percent sign, an underscore and a backslash in a special way. */
function likeOf(pattern: string): string {
  return pattern.replaceAll(/[%_\\]/g, String.raw`\$&`).replaceAll('*', '%');
}

/** Adds what selects rows of `indexed_calls`, except the time. */
export function addCallCriteria(conditions: Conditions, criteria: CallCriteria): void {
  const { tenant, runId, toolName, agentId, askedOrRunBy, states, texts = [] } = criteria;
  conditions.equals('run_id', runId);
  conditions.equals('tool_name', toolName);
  conditions.equals('agent_id', agentId);
  conditions.equals('trace_id', criteria.traceId);
  conditions.equals('parent_call_id', criteria.parentCallId);
  conditions.equals('client_id', criteria.clientId);
  if (askedOrRunBy !== undefined) {
    const agent = conditions.parameter('text', askedOrRunBy.agentId);
    const client = conditions.parameter('text', askedOrRunBy.clientId);
    conditions.add(`(agent_id = ${agent} or client_id = ${client})`);
  }
  if (states !== undefined) {
    const codes = int4Array(states.map((state) => STATE_CODES[state]));
    conditions.add(`state = any(${conditions.parameter('int4[]', codes)})`);
  }
  conditions.names('tool_name', 'tool', criteria.tools, tenant);
  conditions.names('agent_id', 'agent', criteria.agents, tenant);
  conditions.names('code', 'code', criteria.codes, tenant);
  conditions.inRange('waited_ms', criteria.waitedMs);
  conditions.inRange('ran_ms', criteria.ranMs);
  conditions.inRange('(waited_ms + ran_ms)', criteria.totalMs);
  const phrases = texts.map(wordsOf).filter((words) => words.length > 0);
  if (phrases.length > 0)
    conditions.add(`words @@ ${conditions.parameter('tsquery', phrasesQuery(phrases))}`);
}

/** Adds what selects rows of `indexed_refusals`. */
export function addRefusalCriteria(conditions: Conditions, criteria: RefusalCriteria): void {
  const { tenant, agentId, traceId, since, until } = criteria;
  conditions.equals('tenant', tenant);
  conditions.equals('agent_id', agentId);
  conditions.equals('trace_id', traceId);
  conditions.names('tool_name', 'tool', criteria.tools, tenant);
  conditions.names('agent_id', 'agent', criteria.agents, tenant);
  conditions.names('code', 'code', criteria.codes, tenant);
  conditions.inRange('at', {
    ...(since === undefined ? {} : { atLeast: since }),
    ...(until === undefined ? {} : { below: until }),
  });
}
