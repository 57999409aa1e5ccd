import { parentPort } from 'node:worker_threads';

import type { QueryAnswer, QueryRequest } from './protocol.ts';
import { queryPostgres } from './query-postgres.ts';
import { querySqlite } from './query-sqlite.ts';

// Runs in a thread of the child: SQLite blocks its thread, and the child must keep hearing its parent.
parentPort?.on('message', (request: QueryRequest) => {
  answer(request).then(send, (error: unknown) => send({ kind: 'failed', message: String(error) }));
});

async function answer(request: QueryRequest): Promise<QueryAnswer> {
  const { source } = request;
  return source.kind === 'sqlite' ? querySqlite(source.file, request) : queryPostgres(source.url, request);
}

function send(given: QueryAnswer): void {
  parentPort?.postMessage(given);
}
