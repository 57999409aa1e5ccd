import { reason, reasonText, type Reason } from '@patchboard/wire';
import { ToolFailure, failure } from '../../../core/failures.ts';
import { isRecord } from '@patchboard/wire/json';
import type { ServerTool, ToolContext } from '../../../core/tools/server-tool.ts';
import { BadDatabaseUrl, connectionOptions } from '../../../postgres/connection-options.ts';
import { readText } from '../arguments.ts';
import { DATABASE_INPUT, DATABASE_OUTPUT, describe } from './contract.ts';
import { problemWithParams } from './placeholders.ts';
import { ProcessPool } from './process-pool.ts';
import type { Ending } from './query-process.ts';
import { ensureSample } from './sample.ts';
import { checkStatement } from './statement.ts';
import { problemWithTarget } from './target.ts';
import type { DatabaseTarget, Forbidden } from './target.ts';
import type {
  QueryLimits,
  QueryOutcome,
  QueryParams,
  QueryRequest,
  QueryRows,
  Scalar,
} from './worker/protocol.ts';

export interface DatabaseToolOptions {
  readonly target: DatabaseTarget;
  readonly forbidden: Forbidden;
  readonly limits: QueryLimits;
  readonly maxProcesses: number;
  readonly idleMs: number;
  readonly now: () => number;
}

export interface DatabaseTool {
  readonly tool: ServerTool;
  /** The pids of the running children, for tests. */
  readonly pids: () => readonly number[];
  close(): Promise<void>;
}

/** The result of the tool; `DATABASE_OUTPUT` is its schema. */
interface QueryResult extends Pick<QueryRows, 'columns' | 'rows' | 'truncated'> {
  readonly row_count: number;
}

const TIMEOUT_MS = 10_000;

/** Throws if the target is forbidden or its URL is wrong, so that the server does not start with it. */
export function databaseTool(options: DatabaseToolOptions): DatabaseTool {
  const problem = problemWithTarget(options.target, options.forbidden);
  if (problem !== undefined) throw new Error(`database.query: ${reasonText(problem)}`);
  if (options.target.kind === 'postgres') checkUrl(options.target.url);
  const pool = new ProcessPool({ maxProcesses: options.maxProcesses, idleMs: options.idleMs });
  const isSample = options.target.kind === 'sample';
  const tool: ServerTool = {
    name: 'database.query',
    description: describe(options.target, options.limits),
    inputSchema: DATABASE_INPUT,
    outputSchema: DATABASE_OUTPUT,
    timeoutMs: TIMEOUT_MS,
    annotations: {
      readonly: true,
      destructive: false,
      idempotent: true,
      ...(isSample ? {} : { requires_approval: true }),
    },
    metadata: { version: '1.0.0', tags: ['database', 'sql'], sample: isSample },
    concurrency: options.maxProcesses,
    async execute(args, context) {
      const request = prepareRequest(options, args, context);
      await makeReady(options);
      return resultOf(await pool.run(request, context.signal), context, pool);
    },
  };
  return { tool, pids: () => pool.pids, close: () => pool.close() };
}

function checkUrl(url: string): void {
  try {
    connectionOptions(url);
  } catch (error) {
    if (error instanceof BadDatabaseUrl) throw new Error(`database.query: the database URL ${error.message}`);
    throw error;
  }
}

function prepareRequest(options: DatabaseToolOptions, args: unknown, context: ToolContext): QueryRequest {
  const { target, limits, forbidden } = options;
  const sql = readText(args, 'sql');
  const statement = checkStatement(sql, target.kind === 'postgres' ? 'postgres' : 'sqlite');
  if (!statement.ok) throw refused(statement.problem);
  const params = readParams(args);
  // PostgreSQL reports wrong params itself.
  const problem = target.kind === 'postgres' ? undefined : problemWithParams(sql, params);
  if (problem !== undefined) throw paramsRefused(problem);
  return {
    source:
      target.kind === 'postgres'
        ? { ...target, ownStore: forbidden.store }
        : { kind: 'sqlite', file: target.file },
    sql,
    keyword: statement.keyword,
    params,
    budgetMs: Math.max(1, Math.min(TIMEOUT_MS, context.deadlineAt - options.now())),
    limits,
  };
}

/** Reads the argument `params`: a list, an object by name, or absent. */
function readParams(args: unknown): QueryParams {
  const given = isRecord(args) ? (args['params'] ?? []) : [];
  if (Array.isArray(given) && given.every(isScalar)) return given;
  if (isRecord(given)) {
    const entries = Object.entries(given).filter((entry): entry is [string, Scalar] => isScalar(entry[1]));
    if (entries.length === Object.keys(given).length) return Object.fromEntries(entries);
  }
  throw paramsRefused(reason('sql_params_form'));
}

function paramsRefused(why: Reason): ToolFailure {
  const issue = { path: '/params', message: reasonText(why), reasons: [why] };
  return new ToolFailure(failure('input_invalid', why, { issues: [issue] }));
}

function isScalar(value: unknown): value is Scalar {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

async function makeReady(options: DatabaseToolOptions): Promise<void> {
  const problem = problemWithTarget(options.target, options.forbidden);
  if (problem !== undefined) throw new ToolFailure(failure('permission_denied', problem));
  if (options.target.kind === 'sample') await ensureSample(options.target.file);
}

function resultOf(ending: Ending, context: ToolContext, pool: ProcessPool): QueryResult {
  if (ending.kind === 'reply') return resultOfOutcome(ending.reply.outcome);
  // The engine's reason of an abort takes precedence.
  context.signal.throwIfAborted();
  if (pool.closed) throw new ToolFailure(failure('interrupted', reason('server_stopping')));
  if (ending.shortage !== null) throw new ToolFailure(ending.shortage);
  throw new ToolFailure(
    failure('tool_failed', reason('query_process_ended', { error: ending.reason }), {
      retryable: true,
    }),
  );
}

function resultOfOutcome(outcome: QueryOutcome): QueryResult {
  switch (outcome.kind) {
    case 'rows': {
      const { columns, rows, truncated } = outcome;
      return { columns, rows, row_count: rows.length, truncated };
    }
    case 'refused':
      throw refused(outcome.why);
    case 'forbidden':
      throw new ToolFailure(failure('permission_denied', reason('database_is_own_store')));
    case 'failed':
      throw new ToolFailure(failure('tool_failed', reason('database_says', { error: outcome.message })));
    case 'unreachable':
      throw new ToolFailure(
        failure('upstream_unreachable', reason('database_unusable', { error: outcome.message })),
      );
    case 'exhausted':
      throw new ToolFailure(
        failure('tool_failed', reason('query_over_memory'), {
          recommendations: ['read fewer rows or smaller values, and sort less'],
        }),
      );
  }
}

function refused(why: Reason): ToolFailure {
  return new ToolFailure(
    failure('input_invalid', why, {
      issues: [{ path: '/sql', message: reasonText(why), reasons: [why] }],
      recommendations: ['write one SELECT statement that only reads'],
    }),
  );
}
