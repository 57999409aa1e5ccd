import {
  isCallProgressEvent,
  isCallStateEvent,
  TimeoutError,
  type OnInputRequest,
  type PatchboardClient,
} from '@patchboard/client';
import type { CallView, StreamEvent } from '@patchboard/wire';
import { messageOf } from '../core/failures.ts';
import type { CliContext } from './context.ts';
import { EXIT, exitCodeOfCall, UsageError } from './exit-codes.ts';
import { formOf, respondFromForm } from './input-form.ts';
import { resultText } from './output.ts';
import { saveContent } from './save-content.ts';

export interface FollowOptions {
  readonly json?: boolean;
  /** Seconds, as given on the command line. */
  readonly timeout?: string;
  /** Folder for the pictures, audio and resources of the result. */
  readonly save?: string;
  /** Whether a person at the terminal responds to input requests. */
  readonly canRespond: boolean;
}

/** Waits for the end of a call, prints progress and the result. Ctrl-C cancels the call. */
export async function followCall(
  context: CliContext,
  client: PatchboardClient,
  id: string,
  options: FollowOptions,
): Promise<void> {
  const timeoutMs = timeoutOf(options.timeout);
  const stop = new AbortController();
  let interrupted = false;
  const off = context.onInterrupt(() => {
    interrupted = true;
    stop.abort();
  });
  const watching = context.output.isWatched
    ? printProgress(context, client, id, { signal: stop.signal, canRespond: options.canRespond })
    : Promise.resolve();
  try {
    const bounds = { signal: stop.signal, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    const onInputRequest: OnInputRequest = (request, { signal }) =>
      respondFromForm({ ...formOf(context), signal }, client, id, request);
    const call = await client.wait(id, { ...bounds, ...(options.canRespond ? { onInputRequest } : {}) });
    report(context, call, options);
    if (options.save !== undefined)
      for (const path of await saveContent(call, options.save)) context.output.note(`saved ${path}`);
  } catch (error) {
    if (interrupted) return await cancel(context, client, id);
    if (error instanceof TimeoutError) await noteIfWaiting(context, client, id);
    throw error;
  } finally {
    off();
    stop.abort();
    await watching;
  }
}

async function cancel({ output, exitWith }: CliContext, client: PatchboardClient, id: string): Promise<void> {
  exitWith(EXIT.interrupted);
  output.note(`cancelling ${id}…`);
  try {
    await client.cancel(id);
    output.note(`cancelled ${id}`);
  } catch (error) {
    output.note(`could not cancel ${id}: ${messageOf(error)}`);
  }
}

/** Prints progress and approval events. Ignores errors, which `client.wait` reports as well. */
async function printProgress(
  { output }: CliContext,
  client: PatchboardClient,
  id: string,
  { signal, canRespond }: { readonly signal: AbortSignal; readonly canRespond: boolean },
): Promise<void> {
  try {
    for await (const event of client.events({ callId: id, signal })) {
      const text = progressText(event, canRespond);
      if (text !== null) output.note(text);
    }
  } catch {
    // See above.
  }
}

/** After a timeout, prints how the call continues if it waits for approval or input. */
async function noteIfWaiting({ output }: CliContext, client: PatchboardClient, id: string): Promise<void> {
  try {
    const { state } = await client.get(id);
    if (state === 'APPROVAL_REQUIRED') output.note(approvalHint(id));
    if (state === 'INPUT_REQUIRED') output.note(inputHint(id));
  } catch {
    // The timeout itself is reported anyway.
  }
}

function approvalHint(id: string): string {
  return `waiting for approval: patchboard approve ${id}, or the console`;
}

function inputHint(id: string): string {
  return `waiting for input: patchboard input ${id}, or the console`;
}

function progressText(event: StreamEvent, canRespond: boolean): string | null {
  if (isCallProgressEvent(event)) {
    const { data } = event.data;
    return `… ${typeof data === 'string' ? data : JSON.stringify(data)}`;
  }
  if (!isCallStateEvent(event)) return null;
  if (event.data.state === 'APPROVAL_REQUIRED') return approvalHint(event.data.tool_call_id);
  if (event.data.state === 'INPUT_REQUIRED' && !canRespond) return inputHint(event.data.tool_call_id);
  return event.data.state === 'APPROVED' ? 'approved' : null;
}

function report(context: CliContext, call: CallView, options: { readonly json?: boolean }): void {
  const { output } = context;
  context.exitWith(exitCodeOfCall(call));
  if (options.json === true) output.json(call);
  else if (call.status === 'SUCCEEDED') output.data(resultText(call.result, context.isTerminal));
  if (call.status === 'SUCCEEDED') return;
  const { error } = call;
  output.note(
    `${call.tool_name} ${call.state}: ${error?.message ?? 'no reason given'} (${error?.code ?? 'unknown'})`,
  );
  if (error?.outcome === 'unknown') output.note('  It may have taken effect.');
  for (const advice of error?.recommendations ?? []) output.note(`  → ${advice}`);
  output.note(`  call ${call.tool_call_id}`);
}

function timeoutOf(seconds: string | undefined): number | undefined {
  if (seconds === undefined) return undefined;
  const value = Number(seconds);
  if (!(value > 0) || !Number.isFinite(value))
    throw new UsageError(`--timeout: "${seconds}" is not a number of seconds`);
  return value * 1000;
}
