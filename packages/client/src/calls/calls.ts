import type { CallView, DryRunView, InputKind, InputRequestView, ReceiptView } from '@patchboard/wire';
import { isRecord, type Decoder } from '../decode/decode.ts';
import { decodeCall, decodeDryRun, decodeReceipt } from '../decode/views.ts';
import { PatchboardError, ToolCallFailed } from '../errors.ts';
import { boundsOf, request, type HttpRequest, type RequestOptions } from '../http/http.ts';
import type { Settings } from '../http/options.ts';
import { callPath, isEnded } from './call-record.ts';
import { CallWait, limited, pollSeconds, type WaitOptions } from './wait.ts';

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
  /**
   * Whether this caller can respond to input requests of the tool. If not, `Prefer: input=none` is sent, and a tool that needs
   * input fails with `input_unavailable`. True means forms and links; a list names the kinds. Default for `invoke`: true; for
   * `call`: whether `onInputRequest` is given.
   */
  readonly acceptsInput?: boolean | readonly InputKind[];
}

export interface CallOptions extends InvokeOptions, WaitOptions {
  /** Whether to throw `ToolCallFailed` if the call does not end as SUCCEEDED. Default true. */
  readonly throwOnFailure?: boolean;
}

export type DryRunOptions = Pick<InvokeOptions, 'runId' | 'target' | 'signal'>;

export interface ReplayOptions extends RequestOptions {
  /** Default: the run of the replayed call. Required to replay a call of another agent. */
  readonly runId?: string;
  /** As for `invoke`. */
  readonly acceptsInput?: boolean | readonly InputKind[];
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
    ...acceptance(options),
    repeat: 'safe', // because of the idempotency key
  };
}

function acceptance({
  acceptsInput,
}: {
  readonly acceptsInput?: boolean | readonly InputKind[];
}): Pick<HttpRequest, 'acceptsInput'> {
  return acceptsInput === undefined ? {} : { acceptsInput };
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

/** Invokes and waits: a short call takes one request, a longer one continues with long polls. */
export async function call(
  settings: Settings,
  name: string,
  args: unknown,
  options: CallOptions,
): Promise<CallView> {
  const acceptsInput = options.acceptsInput ?? options.onInputRequest !== undefined;
  const ended = await run(settings, invocation(settings, name, args, { ...options, acceptsInput }), options);
  if (ended.status !== 'SUCCEEDED' && options.throwOnFailure !== false) throw new ToolCallFailed(ended);
  return ended;
}

async function run(settings: Settings, what: HttpRequest, options: WaitOptions): Promise<CallView> {
  const bounds = limited(settings, options);
  const waitFor = (id: string, asked: InputRequestView | null): Promise<CallView> =>
    new CallWait(settings, id, bounds, options.onInputRequest).run(asked);
  let invoked: Invoked;
  try {
    const waiting = { ...what, waitSeconds: pollSeconds(settings, bounds) };
    invoked = await request(settings, waiting, decodeInvoked, bounds);
  } catch (error) {
    // A call denied by policy or hook gets a 403 but is recorded: return the record.
    if (!(error instanceof PatchboardError) || error.toolCallId === null) throw error;
    return waitFor(error.toolCallId, null);
  }
  if ('call' in invoked && isEnded(invoked.call)) return invoked.call;
  const { tool_call_id: id, input_request: asked = null } =
    'call' in invoked ? invoked.call : invoked.receipt;
  return waitFor(id, asked);
}

export async function replay(
  settings: Settings,
  id: string,
  args: unknown,
  options: ReplayOptions,
): Promise<ReceiptView> {
  const what: HttpRequest = {
    method: 'POST',
    path: `${callPath(id)}/replay`,
    body: {
      ...(args === undefined ? {} : { args }),
      ...(options.runId === undefined ? {} : { run_id: options.runId }),
    },
    ...acceptance(options),
    repeat: 'unsafe', // each request creates a new call
  };
  return request(settings, what, decodeReceipt, boundsOf(options));
}
