import type { Call } from '../../../core/call/call.ts';
import { messageOf } from '../../../core/failures.ts';
import { waitsForInput } from '../../../core/call/input.ts';
import { REMOTE_CALLER, type InProcessCaller } from '../../../core/call/live-call.ts';
import { isRecord } from '@patchboard/wire/json';
import { approvalRequest, respondToLink } from '../calls/approval-link.ts';
import type { Exchange } from '../exchange.ts';
import type { InputRequestJson } from '../../../protocols/mcp/input-requests.ts';
import { inputRequestsOf, openByKey, APPROVAL_KEY } from '../calls/input-requests.ts';
import { giveResponses } from '../calls/input-responses.ts';
import { RpcError } from '../messages/rpc-error.ts';
import type { ClientResponse, ResponseHandler, Session } from './session.ts';
import { signalSession } from './session-signals.ts';

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
    this.#send(request, { callId: call.id, key: APPROVAL_KEY }, (response) =>
      respondToApprovalLink(this.#exchange, call, response),
    );
    this.#notifyOfDecision(call, request);
  }

  #requestInput(call: Call): void {
    const requests = inputRequestsOf(call, this.#exchange.client);
    for (const [key, { id }] of openByKey(call)) {
      const request = requests[key];
      if (request === undefined || this.#sent.has(id)) continue;
      this.#sent.add(id);
      const { context, principal } = this.#exchange;
      const about = { callId: call.id, key };
      this.#send(request, about, (response) => give({ context, principal }, call.id, key, response));
    }
  }

  #send({ method, params }: InputRequestJson, about: RequestSubject, handler: ResponseHandler): void {
    const { context } = this.#exchange;
    const id = this.#session.expect(handler);
    const send = (): void => {
      const { response } = this.#exchange;
      // A form is what versions before 2025-11-25 know, without a mode.
      const { mode, ...others } = params;
      const shown = mode === 'form' ? others : params;
      const target = response.isDone || response.isGone ? this.#session.stream : response;
      if (target !== null) target.request(id, method, shown);
      else signalSession(context.engine, this.#session.id, { kind: 'message', id, method, params: shown });
    };
    if (!context.engine.changes.isShared) {
      send();
      return;
    }
    // The client may send its response to any node.
    const stored: StoredRequest = { ...about, session: this.#session.id };
    Promise.resolve(context.tokens.put('mcp_request', id, JSON.stringify(stored), REQUEST_MS))
      .then(send)
      .catch((error: unknown) => context.log.error('mcp.request_not_sent', { error: messageOf(error) }));
  }

  #notifyOfDecision({ id }: Call, { params: { elicitationId } }: InputRequestJson): void {
    const { context, response } = this.#exchange;
    const stop = context.engine.feed.listenToCall(id, ({ type, data }) => {
      if (type !== 'call.state' || (data as { state?: unknown }).state === 'APPROVAL_REQUIRED') return;
      stop();
      forget();
      const target = response.isDone || response.isGone ? this.#session.stream : response;
      const [method, params] = ['notifications/elicitation/complete', { elicitationId }];
      if (target !== null) target.notify(method, params);
      else signalSession(context.engine, this.#session.id, { kind: 'message', id: null, method, params });
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
/** How long a response to a request of another node is accepted. */
const REQUEST_MS = 3_600_000;

/** What a request of the server is about: an input request of the call, or its approval. */
interface RequestSubject {
  readonly callId: string;
  readonly key: string;
}

interface StoredRequest extends RequestSubject {
  readonly session: string;
}

/** Takes the response to a request that another node has sent in this session. */
export async function respondElsewhere(
  exchange: Pick<Exchange, 'context' | 'principal'>,
  session: Session,
  id: unknown,
  response: ClientResponse,
): Promise<RpcError | null> {
  const { context, principal } = exchange;
  const text = typeof id === 'string' ? await context.tokens.spend('mcp_request', id) : null;
  if (text === null) return null;
  const { callId, key, session: of } = JSON.parse(text) as StoredRequest;
  const call = of === session.id ? await context.engine.calls.find(principal, callId) : undefined;
  if (call === undefined) return null;
  let isTaken = false;
  try {
    const problem =
      // A tool of a call that needed no approval may have a key of that name.
      key === APPROVAL_KEY && call.approval !== null
        ? await respondToApprovalLink(exchange, call, response)
        : await give(exchange, callId, key, response);
    isTaken = problem === null;
    return problem;
  } finally {
    if (!isTaken) await context.tokens.put('mcp_request', id as string, text, REQUEST_MS);
  }
}

/** Declining cancels the caller's own call. No response decides on it. */
async function respondToApprovalLink(
  exchange: Pick<Exchange, 'context' | 'principal'>,
  call: Call,
  { result }: ClientResponse,
): Promise<RpcError | null> {
  return await problemOf(() =>
    respondToLink(exchange, call, { [APPROVAL_KEY]: isRecord(result) ? result : DECLINED }),
  );
}

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
    // One that may be sent again, such as while there is no room, keeps its status.
    if (error.failure !== null) return error;
    return new RpcError(error.code, error.message, { data: error.data, status: 400 });
  }
}
