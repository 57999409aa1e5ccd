import type { FastifyReply } from 'fastify';
import { failure } from '../../../core/failures.ts';
import { prepareProblem } from '../routes/problem.ts';
import { SharedRoom } from './shared-room.ts';

/** Responses up to this size are not counted: what the system holds for a connection takes them in. */
const SMALL_RESPONSE_CHARACTERS = 65_536;
/** As text, and as the bytes that are sent. */
const BYTES_PER_CHARACTER = 2;

/** Counts large responses until they have left: a reader that takes its time holds the whole text in memory. */
export class HeldResponses {
  readonly #room: SharedRoom;

  constructor(mostBytes: number) {
    this.#room = new SharedRoom(mostBytes);
  }

  /** Returns what is to be sent: the text itself or, where there is no room, a refusal of a request that can be repeated. */
  admit(reply: FastifyReply, text: string): string {
    const { request, raw } = reply;
    // The reader is gone already, and `close` does not come again.
    if (text.length <= SMALL_RESPONSE_CHARACTERS || raw.destroyed) return text;
    const tenant = request.principal?.tenant ?? '';
    const bytes = text.length * BYTES_PER_CHARACTER;
    const hasRoom = this.#room.total === 0 || this.#room.has(tenant, bytes);
    // What was done is not refused afterwards.
    if (!hasRoom && request.method === 'GET') return prepareProblem(reply, NO_ROOM);
    this.#room.take(tenant, bytes);
    raw.once('close', () => this.#room.give(tenant, bytes));
    return text;
  }
}

const NO_ROOM = failure(
  'overloaded',
  'the responses that were not read yet take as much memory as they may; ask for less, or read faster',
);
