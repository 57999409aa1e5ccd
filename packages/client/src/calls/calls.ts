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
  /** The client or device that runs the call, if several offer the tool. */
  readonly target?: string;
  /**
   * Identifies one logical call, so that a retried request cannot execute twice. Default: a new key for each `invoke`
   * or `call`. Pass your own to keep that guarantee across restarts of your program.
   */
  readonly idempotencyKey?: string;
}

export interface WaitOptions extends RequestOptions {
  /** Total time to wait. Default: until the call ends. The call continues after a timeout. */
  readonly timeoutMs?: number;
}

export interface CallOptions extends InvokeOptions, WaitOptions {
  /** Whether to throw `ToolCallFailed` if the call does not end as SUCCEEDED. Default true. */
  readonly throwOnFailure?: boolean;
}

export type DryRunOptions = Pick<InvokeOptions, 'runId' | 'target' | 'signal'>;

export interface ReplayOptions extends RequestOptions {
  /** Default: the run of the replayed call. Required to replay a call of another agent. */
  readonly runId?: string;
}

/** Whether a call has reached a terminal status. */
export function isEnded(call: CallView): boolean {
  return call.status !== 'PENDING' && call.status !== 'RUNNING';
}

/** With `Prefer: wait` the server returns the record if the call ended in time, otherwise the receipt. */
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
    repeat: 'safe', // because of the idempotency key
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
      const polledAt = clock.now();
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
      // A proxy may drop `Prefer`, and a server that shuts down returns early: do not poll in a tight loop.
      early = clock.now() - polledAt < waitSeconds * 500 ? early + 1 : 0;
      if (early > 0)
        await pause(clock, Math.min(backoff(settings, early), left(settings, bounds)), bounds.signal);
    }
  } catch (error) {
    throw error instanceof TimeoutError ? stillOpen(id, lastFailure) : error;
  }
}

function stillOpen(id: string, cause: unknown): TimeoutError {
  return new TimeoutError(`call ${id} did not end within the time limit`, { toolCallId: id, cause });
}

/** Invokes and waits: a short call takes one request, a longer one continues with long polls. */
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
    // A call denied by policy or hook gets a 403 but is recorded: return the record.
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
    repeat: 'unsafe', // each request creates a new call
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

/** Whole seconds, rounded up; the deadline ends the request if that is too long. */
function pollSeconds(settings: Settings, bounds: Bounds): number {
  return Math.min(settings.pollSeconds, Math.ceil(left(settings, bounds) / 1000));
}
