import { BACKUP_HEADERS, BACKUP_TYPE, reason } from '@patchboard/wire';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { DEFAULT_TENANT } from '../../core/access/principal.ts';
import { failure, messageOf, StorageFull } from '../../core/failures.ts';
import { plainRow } from '../../core/ledger/ledger.ts';
import type { StoreCopy } from '../../core/ports.ts';
import type { HttpContext } from '../shared/http/context.ts';
import { principalOf } from '../shared/routes/caller.ts';
import { sendProblem } from '../shared/routes/problem.ts';
import { NOT_STORED, type Route } from '../shared/routes/routes.ts';
import { TEXT } from '../shared/routes/schemas.ts';
import { whileConnected } from '../shared/streams/waiting.ts';
import { operatorTokenMissing } from './operator-token.ts';

export const backupRoute: Route = {
  method: 'POST',
  url: '/v1/backup',
  name: 'makeBackup',
  api: 'operator',
  summary:
    'A consistent copy of the whole store, of all tenants, made while the server runs: an SQLite file. Its newest ledger row ' +
    `is in \`${BACKUP_HEADERS.seq}\` and \`${BACKUP_HEADERS.hash}\`. One at a time. Requires the operator token.`,
  scope: 'keys:write',
  responses: {
    200: { description: 'the file', schema: { ...TEXT, format: 'binary' }, type: BACKUP_TYPE },
  },
  refusals: ['permission_denied', 'conflict', ...NOT_STORED],
  isStream: true,
  handle: backUp,
};

async function backUp(context: HttpContext, request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { store, clock } = context;
  const principal = principalOf(request);
  const refused = operatorTokenMissing(principal);
  if (refused !== null) return sendProblem(reply, refused);
  if (store.copy === undefined) return sendProblem(reply, failure('conflict', reason('backup_elsewhere')));
  // Before the copy: data never leaves the server without a record.
  await store.append([plainRow('store.copied', DEFAULT_TENANT, clock.now(), { by: principal.id })]);
  const copy = await whileConnected(context, reply, async (signal) => {
    try {
      return await store.copy?.(signal);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof StorageFull) return failure('storage_full', reason('backup_no_space'));
      throw error;
    }
  });
  if (copy === undefined) {
    // The client is gone or the server closes: there is no response.
    reply.hijack();
    reply.raw.destroy();
    return;
  }
  if (copy === null) return sendProblem(reply, failure('conflict', reason('backup_running')));
  if ('code' in copy) return sendProblem(reply, copy);
  try {
    await sendCopy(context, reply, copy);
  } finally {
    await copy.remove();
  }
}

async function sendCopy({ streams, log }: HttpContext, reply: FastifyReply, copy: StoreCopy): Promise<void> {
  const { bytes, head } = copy;
  reply.header('content-length', bytes);
  reply.header(BACKUP_HEADERS.seq, head.seq);
  reply.header(BACKUP_HEADERS.hash, head.hash);
  const stream = streams.openDocument(reply, principalOf(reply.request), BACKUP_TYPE);
  try {
    for await (const chunk of copy.read()) {
      if (!stream.isOpen) return;
      stream.write(chunk);
      await stream.drained();
    }
    stream.end();
  } catch (error) {
    // Headers were sent already, so no problem response is possible.
    log.error('http.stream_failed', { error: messageOf(error) });
    stream.cutOff();
  }
}
