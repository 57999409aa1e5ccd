import { Session } from 'node:inspector/promises';
import { Socket } from 'node:net';
import { StatementSync } from 'node:sqlite';
import { ToolIndex } from '../../src/core/tools/tool-index.ts';
import { BatchCommitter } from '../../src/store/postgres/batch-committer.ts';
import { Transactions } from '../../src/store/sqlite/transactions.ts';

/** Stand in the arguments and in the result of a measured call: a JSON text that contains one is counted. */
export const ARGUMENT_MARK = 'walk-argument';
export const RESULT_MARK = 'walk-result';

/** What a server did since the last time it was asked. */
export interface Counts {
  /** Source files of which a function ran. */
  readonly files: readonly string[];
  /** Searches of a tool by its name. */
  readonly lookUps: number;
  /** How often the arguments, or the result, were parsed from JSON or encoded as JSON. */
  readonly argumentTexts: number;
  readonly resultTexts: number;
  /** Transactions of the store. */
  readonly commits: number;
  /** SQL statements of SQLite. */
  readonly statements: number;
  /** Of commits: messages to PostgreSQL that were followed by a wait for its reply. */
  readonly roundTrips: number;
}

/** The name of a statement that only commits contain. */
const COMMITTING = 'insert_segment';

type Numbers = { -readonly [Name in Exclude<keyof Counts, 'files'>]: number };

/** Counts in this process from now on. `databasePort`: of PostgreSQL; null: the store is SQLite. */
export async function startCounting(databasePort: number | null): Promise<() => Promise<Counts>> {
  let numbers = none();
  const count = (name: keyof Numbers): void => void (numbers[name] += 1);
  countTexts((text) => {
    if (text.includes(ARGUMENT_MARK)) count('argumentTexts');
    if (text.includes(RESULT_MARK)) count('resultTexts');
  });
  before(ToolIndex.prototype, 'find', () => count('lookUps'));
  before(Transactions.prototype, 'run', () => count('commits'));
  before(BatchCommitter.prototype, 'commit', () => count('commits'));
  for (const name of ['run', 'get', 'all'] as const)
    before(StatementSync.prototype, name, () => count('statements'));
  if (databasePort !== null) countRoundTrips(databasePort, () => count('roundTrips'));
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const ran = result.filter(({ functions }) => functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0));
    const files = ran.flatMap(
      ({ url }) => /\/packages\/((?:patchboard|wire)\/src\/.+)$/.exec(url)?.[1] ?? [],
    );
    const counts = { ...numbers, files };
    numbers = none();
    return counts;
  };
}

function none(): Numbers {
  return { lookUps: 0, argumentTexts: 0, resultTexts: 0, commits: 0, statements: 0, roundTrips: 0 };
}

function countTexts(take: (text: string) => void): void {
  const { parse, stringify } = JSON;
  JSON.parse = (text: string, reviver?: Parameters<typeof parse>[1]): unknown => {
    take(String(text));
    return parse(text, reviver) as unknown;
  };
  JSON.stringify = ((...given: Parameters<typeof stringify>): string | undefined => {
    const text = stringify(...given) as string | undefined;
    if (text !== undefined) take(text);
    return text;
  }) as typeof stringify;
}

/** Calls `listener` before each call of a method. */
function before<Name extends string>(
  owner: Record<Name, (...given: never[]) => unknown>,
  name: Name,
  listener: () => void,
): void {
  const method = owner[name];
  owner[name] = function (this: unknown, ...given: never[]): unknown {
    listener();
    return method.apply(this, given);
  };
}

/**
 * Counts on the connection that commits, which does nothing else. A write counts if a reply has arrived since the one before
 * it: what is sent at once is one round trip.
 */
function countRoundTrips(port: number, count: () => void): void {
  const committing = new WeakSet<Socket>();
  const waiting = new WeakSet<Socket>();
  const write = Reflect.get(Socket.prototype, 'write') as (this: Socket, ...given: unknown[]) => boolean;
  Socket.prototype.write = function (this: Socket, ...given: unknown[]): boolean {
    if (this.remotePort === port && !committing.has(this) && String(given[0]).includes(COMMITTING)) {
      committing.add(this);
      this.prependListener('data', () => waiting.delete(this));
    }
    if (committing.has(this) && !waiting.has(this)) {
      count();
      waiting.add(this);
    }
    return write.apply(this, given);
  };
}
