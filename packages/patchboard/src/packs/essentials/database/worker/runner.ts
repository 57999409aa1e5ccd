import { parentPort } from 'node:worker_threads';

import type { QueryOutcome, QueryRequest } from './protocol.ts';
import { queryPostgres } from './query-postgres.ts';
import { querySqlite } from './query-sqlite.ts';

// Runs in a worker thread of the child, because SQLite blocks its thread and the child must stay responsive.
parentPort?.on('message', (request: QueryRequest) => {
  run(request).then(send, (error: unknown) => send({ kind: 'failed', message: String(error) }));
});

async function run(request: QueryRequest): Promise<QueryOutcome> {
  const { source } = request;
  return source.kind === 'sqlite' ? querySqlite(source.file, request) : queryPostgres(source, request);
}

function send(outcome: QueryOutcome): void {
  parentPort?.postMessage(outcome);
}
