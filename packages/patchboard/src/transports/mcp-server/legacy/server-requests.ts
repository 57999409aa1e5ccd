import type { Call } from '../../../core/call/call.ts';
import { waitsForInput } from '../../../core/call/input.ts';
import { REMOTE_CALLER, type InProcessCaller } from '../../../core/call/live-call.ts';
import { isRecord } from '../../../core/json/is-record.ts';
import { approvalRequest, respondToLink } from '../calls/approval-link.ts';
import type { Exchange } from '../exchange.ts';
import type { InputRequestJson } from '../../../protocols/mcp/input-requests.ts';
import { inputRequestsOf, openByKey, APPROVAL_KEY } from '../calls/input-requests.ts';
import { giveResponses } from '../calls/input-responses.ts';
import { RpcError } from '../messages/rpc-error.ts';
import type { ClientResponse, ResponseHandler, Session } from './session.ts';

/** What is needed as long as the call is open: without the parameters, which may be large. */
type Responding = Pick<Exchange, 'context' | 'principal' | 'client' | 'origin' | 'response'>;

/**
 * Requests of the server to a client of an older protocol version, on the response to its `tools/call` or, once that has
 * ended, on the stream of its session. A response counts as long as the call waits for it, also after a receipt.
 */
export class ServerRequests {
  readonly #exchange: Responding;
  readonly #session: Session;
  /** Ids of the input requests that were sent. */
  readonly #sent: Set<string> = new Set();

  constructor({ context, principal, client, origin, response }: Exchange, session: Session) {
    this.#exchange = { context, principal, client, origin, response };
    this.#session = session;
  }

  /** The caller of the call, which also gets its reports. */
  caller(reports: InProcessCaller | null): InProcessCaller {
    return { ...(reports ?? REMOTE_CALLER), onInputRequired: (call) => this.#requestInput(call) };
  }

  /** Sends what the call waits for already. */
  started(call: Call): void {
    if (waitsForInput(call)) this.#requestInput(call);
    const request = approvalRequest(this.#exchange, call)?.[APPROVAL_KEY];
    if (request === undefined) return;
    this.#send(request, (response) => this.#lookedAt(call, response));
    this.#notifyOfDecision(call, request);
  }

  #requestInput(call: Call): void {
    const requests = inputRequestsOf(call, this.#exchange.client);
    for (const [key, { id }] of openByKey(call)) {
      const request = requests[key];
      if (request === undefined || this.#sent.has(id)) continue;
      this.#sent.add(id);
      const { context, principal } = this.#exchange;
      this.#send(request, (response) => give({ context, principal }, call.id, key, response));
    }
  }

  #send({ method, params }: InputRequestJson, handler: ResponseHandler): void {
    const { response } = this.#exchange;
    const target = response.isDone || response.isGone ? this.#session.stream : response;
    // A form is what versions before 2025-11-25 know, without a mode.
    const { mode, ...others } = params;
    target?.request(this.#session.expect(handler), method, mode === 'form' ? others : params);
  }

  /** Declining cancels the caller's own call. No response decides on it. */
  async #lookedAt(call: Call, { result }: ClientResponse): Promise<RpcError | null> {
    return await problemOf(() =>
      respondToLink(this.#exchange, call, { [APPROVAL_KEY]: isRecord(result) ? result : DECLINED }),
    );
  }

  #notifyOfDecision({ id }: Call, { params: { elicitationId } }: InputRequestJson): void {
    const { context, response } = this.#exchange;
    const stop = context.engine.feed.listenToCall(id, ({ type, data }) => {
      if (type !== 'call.state' || (data as { state?: unknown }).state === 'APPROVAL_REQUIRED') return;
      stop();
      forget();
      const target = response.isDone || response.isGone ? this.#session.stream : response;
      target?.notify('notifications/elicitation/complete', { elicitationId });
    });
    const forget = this.#session.onClose(stop);
  }
}

/** Null unless the client of an older protocol version has a session, and takes requests. */
export function serverRequests(exchange: Exchange): ServerRequests | null {
  const { era, session, response } = exchange;
  return era === 'legacy' && session !== null && response.canStream
    ? new ServerRequests(exchange, session)
    : null;
}

const DECLINED = { action: 'decline' };

/** Gives the call the client's response to one input request. An error of the client declines it. */
async function give(
  { context, principal }: Pick<Exchange, 'context' | 'principal'>,
  callId: string,
  key: string,
  { result }: ClientResponse,
): Promise<RpcError | null> {
  const call = await context.engine.calls.find(principal, callId);
  if (call === undefined) return null;
  return await problemOf(async () => {
    if (isRecord(result)) await giveResponses({ context, principal }, call, { [key]: result });
    else {
      const id = openByKey(call).get(key)?.id;
      if (id !== undefined)
        await context.engine.calls.respond(principal, callId, { id, action: 'decline', content: null });
    }
  });
}

/** A malformed response is refused with status 400, as the specification wants. */
async function problemOf(work: () => Promise<unknown>): Promise<RpcError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    return new RpcError(error.code, error.message, { data: error.data, status: 400 });
  }
}
