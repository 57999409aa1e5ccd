import { reason } from '@patchboard/wire';
import type { FastifyReply } from 'fastify';
import { failure } from '../../../core/failures.ts';
import { prepareProblem } from '../routes/problem.ts';
import { ByteBudget } from './byte-budget.ts';

/** Responses up to this size are not counted: they fit into the socket's send buffer. */
const SMALL_RESPONSE_CHARACTERS = 65_536;
/** One for the string, one for the encoded bytes. */
const BYTES_PER_CHARACTER = 2;

/** Bounds the memory of large responses until they are sent: a slow client keeps the whole text in memory. */
export class HeldResponses {
  readonly #budget: ByteBudget;

  constructor(mostBytes: number) {
    this.#budget = new ByteBudget(mostBytes);
  }

  /** Returns the body to send: the text, or a problem if it does not fit and the request can be repeated. */
  admit(reply: FastifyReply, text: string): string {
    const { request, raw } = reply;
    // A destroyed response has emitted `close` already, so nothing would release the bytes.
    if (text.length <= SMALL_RESPONSE_CHARACTERS || raw.destroyed) return text;
    const tenant = request.principal?.tenant ?? '';
    const bytes = text.length * BYTES_PER_CHARACTER;
    const fits = this.#budget.total === 0 || this.#budget.fits(tenant, bytes);
    // Other methods have taken effect already, so their responses are always sent.
    if (!fits && request.method === 'GET') return prepareProblem(reply, NO_ROOM);
    this.#budget.reserve(tenant, bytes);
    raw.once('close', () => this.#budget.release(tenant, bytes));
    return text;
  }
}

const NO_ROOM = failure('overloaded', reason('responses_held_full'));
