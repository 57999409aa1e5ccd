import type { CallView, DryRunView, ReceiptView } from '@patchboard/wire';
import { pause, type Bounds } from '../http/abort.ts';
import { isRecord, type Decoder } from '../decode/decode.ts';
import { decodeCall, decodeDryRun, decodeReceipt } from '../decode/views.ts';
import { PatchboardError, TimeoutError, ToolCallFailed } from '../errors.ts';
import { boundsOf, request, requestOnce, type HttpRequest, type RequestOptions } from '../http/http.ts';
import { positive, type Settings } from '../http/options.ts';
import { backoff, retrier } from '../http/retry.ts';

export interface InvokeOptions extends RequestOptions {
  /** The run this call joins. Default: the client's. */
  readonly runId?: string;
  /** Which client shall run it, where several could. */
  readonly target?: string;
  /**
   * One per logical call. Default: a new one for each `invoke` or `call`, so that a repeated request can never
   * execute twice. Give your own to make that hold across restarts of your program.
   */
  readonly idempotencyKey?: string;
}

export interface WaitOptions extends RequestOptions {
  /** How long to wait in all. Default: until the call ends. The call goes on when this passes. */
  readonly timeoutMs?: number;
}

export interface CallOptions extends InvokeOptions, WaitOptions {
  /** Whether a call that ends other than SUCCEEDED is thrown as `ToolCallFailed`. Default true. */
  readonly throwOnFailure?: boolean;
}

export type DryRunOptions = Pick<InvokeOptions, 'runId' | 'target' | 'signal'>;

export interface ReplayOptions extends RequestOptions {
  /** Default: the run of the old call. Name your own to replay what another agent called. */
  readonly runId?: string;
}

/** Whether a call has reached its final status. */
export function isEnded(call: CallView): boolean {
  return call.status !== 'PENDING' && call.status !== 'RUNNING';
}

/** With `Prefer: wait` the server answers with the record if the call ended in time, else with the receipt. */
type Invoked = { readonly receipt: ReceiptView } | { readonly call: CallView };

const decodeInvoked: Decoder<Invoked> = (body, path) =>
  isRecord(body) && body['status'] === 'pending'
    ? { receipt: decodeReceipt(body, path) }
    : { call: decodeCall(body, path) };

function invocation(settings: Settings, name: string, args: unknown, options: InvokeOptions): HttpRequest {
  return {
    method: 'POST',
    path: `/v1/tools/${encodeURIComponent(name)}/invoke`,
    headers: { 'idempotency-key': options.idempotencyKey ?? settings.newId() },
    body: {
      run_id: options.runId ?? settings.runId,
      args: args ?? {},
      ...(options.target === undefined ? {} : { target: options.target }),
    },
    repeat: 'safe', // by its key
  };
}

export async function invoke(
  settings: Settings,
  name: string,
  args: unknown,
  options: InvokeOptions,
): Promise<ReceiptView> {
  const what = invocation(settings, name, args, options);
  return request(settings, what, decodeReceipt, boundsOf(options));
}

export async function dryRun(
  settings: Settings,
  name: string,
  args: unknown,
  options: DryRunOptions,
): Promise<DryRunView> {
  const { path, ...what } = invocation(settings, name, args, options);
  return request(settings, { ...what, path: `${path}?dry_run=true` }, decodeDryRun, boundsOf(options));
}

export async function get(settings: Settings, id: string, options: RequestOptions): Promise<CallView> {
  return request(settings, lookup(id), decodeCall, boundsOf(options));
}

function lookup(id: string): HttpRequest {
  return { method: 'GET', path: pathOf(id), repeat: 'safe' };
}

function pathOf(id: string): string {
  return `/v1/tool_calls/${encodeURIComponent(id)}`;
}

export async function wait(settings: Settings, id: string, options: WaitOptions): Promise<CallView> {
  return waitUntilEnded(settings, id, limited(settings, options));
}

async function waitUntilEnded(settings: Settings, id: string, bounds: Bounds): Promise<CallView> {
  const { clock } = settings;
  const retry = retrier(settings, bounds, 'patient');
  let early = 0;
  let lastFailure: unknown;
  try {
    for (;;) {
      if (left(settings, bounds) === 0) throw stillOpen(id, lastFailure);
      const waitSeconds = pollSeconds(settings, bounds);
      const askedAt = clock.now();
      try {
        const call = await requestOnce(settings, { ...lookup(id), waitSeconds }, decodeCall, bounds);
        if (isEnded(call)) return call;
        retry.reset();
        lastFailure = undefined;
      } catch (error) {
        lastFailure = error instanceof TimeoutError ? lastFailure : error;
        await retry.pause(error, 'safe');
        continue;
      }
      // A proxy may drop `Prefer`, and a server that shuts down lets go early: do not ask in a tight loop.
      early = clock.now() - askedAt < waitSeconds * 500 ? early + 1 : 0;
      if (early > 0)
        await pause(clock, Math.min(backoff(settings, early), left(settings, bounds)), bounds.signal);
    }
  } catch (error) {
    throw error instanceof TimeoutError ? stillOpen(id, lastFailure) : error;
  }
}

function stillOpen(id: string, cause: unknown): TimeoutError {
  return new TimeoutError(`call ${id} has not ended within the time limit`, { toolCallId: id, cause });
}

/** Invokes and waits in one request where the call is quick, in several where it is not. */
export async function call(
  settings: Settings,
  name: string,
  args: unknown,
  options: CallOptions,
): Promise<CallView> {
  const bounds = limited(settings, options);
  const ended = await run(settings, invocation(settings, name, args, options), bounds);
  if (ended.status !== 'SUCCEEDED' && options.throwOnFailure !== false) throw new ToolCallFailed(ended);
  return ended;
}

async function run(settings: Settings, what: HttpRequest, bounds: Bounds): Promise<CallView> {
  let invoked: Invoked;
  try {
    const waiting = { ...what, waitSeconds: pollSeconds(settings, bounds) };
    invoked = await request(settings, waiting, decodeInvoked, bounds);
  } catch (error) {
    // Denied by policy or hook: refused with 403, and yet recorded. The record is the answer.
    if (!(error instanceof PatchboardError) || error.toolCallId === null) throw error;
    return waitUntilEnded(settings, error.toolCallId, bounds);
  }
  if ('call' in invoked && isEnded(invoked.call)) return invoked.call;
  const { tool_call_id: id } = 'call' in invoked ? invoked.call : invoked.receipt;
  return waitUntilEnded(settings, id, bounds);
}

export async function replay(
  settings: Settings,
  id: string,
  args: unknown,
  options: ReplayOptions,
): Promise<ReceiptView> {
  const what: HttpRequest = {
    method: 'POST',
    path: `${pathOf(id)}/replay`,
    body: {
      ...(args === undefined ? {} : { args }),
      ...(options.runId === undefined ? {} : { run_id: options.runId }),
    },
    repeat: 'unsafe', // each one is a new call
  };
  return request(settings, what, decodeReceipt, boundsOf(options));
}

function limited(settings: Settings, options: WaitOptions): Bounds {
  const { timeoutMs } = options;
  if (timeoutMs === undefined) return boundsOf(options);
  return { signal: options.signal, deadline: settings.clock.now() + positive('timeoutMs', timeoutMs) };
}

function left(settings: Settings, bounds: Bounds): number {
  return Math.max(bounds.deadline - settings.clock.now(), 0);
}

/** Whole seconds, rounded up: the deadline itself cuts off what is too long. */
function pollSeconds(settings: Settings, bounds: Bounds): number {
  return Math.min(settings.pollSeconds, Math.ceil(left(settings, bounds) / 1000));
}
