import { isRecord } from '@patchboard/wire/json';
import { hasLongId, isId, MAX_ID_CHARACTERS } from '../messages/message.ts';
import { RPC_CODES } from '../../../protocols/mcp/rpc-codes.ts';
import { RpcError } from '../messages/rpc-error.ts';
import type { Session } from './session.ts';

/** The only protocol version with batches. */
const BATCH_VERSION = '2025-03-26';
const MAX_BATCH = 20;

export type Message = Readonly<Record<string, unknown>>;

/** Returns the messages of a JSON-RPC batch. Throws unless it is one that the session's version allows. */
export function readBatch(batch: readonly unknown[], session: Session | null): readonly Message[] {
  if (session?.protocolVersion !== BATCH_VERSION)
    throw refused(`only sessions of protocol version ${BATCH_VERSION} may send batches`);
  if (batch.length > MAX_BATCH)
    throw refused(`a batch has ${MAX_BATCH} messages at most, this one has ${batch.length}`);
  if (!batch.every(isRecord)) throw refused('every message of a batch must be an object');
  const hasResponses = batch.some((message) => message['method'] === undefined);
  if (hasResponses && batch.some((message) => message['method'] !== undefined))
    throw refused('a batch has responses only, or requests and notifications only');
  if (batch.some((message) => message['method'] === 'initialize'))
    throw refused('initialize must not be part of a batch');
  if (batch.some(hasLongId)) throw refused(`an id has more than ${MAX_ID_CHARACTERS} characters`);
  const ids = batch.map((message) => message['id']).filter(isId);
  if (new Set(ids).size < ids.length) throw refused('two messages of the batch have the same id');
  return batch;
}

function refused(problem: string): RpcError {
  return new RpcError(RPC_CODES.invalidRequest, `Invalid Request: ${problem}`, { status: 400 });
}
