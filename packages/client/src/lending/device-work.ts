import { INPUT_FAILURE_CODES, type GatewayFrame, type InputFailureCode } from '@patchboard/wire';
import { PatchboardError } from '../errors.ts';
import type { DeviceInputs } from './device-inputs.ts';
import { isToolCallResult, type DeviceCall, type DeviceTool } from './device-tool.ts';
import { SeenIds } from './seen-ids.ts';

export type RequestFrame = Extract<GatewayFrame, { type: 'tool_call_request' }>;

/** Runs requests for tools that have no `run` function. */
export type ToolCallHandler = (request: DeviceCall) => unknown;

export interface DeviceWorkParts {
  readonly tools: ReadonlyMap<string, DeviceTool>;
  readonly handler: ToolCallHandler | null;
  /** Maximum number of concurrent calls; 1: in order of arrival. */
  readonly concurrency: number;
  readonly progress: (id: string, data: unknown) => void;
  readonly inputs: Pick<DeviceInputs, 'forRequest'>;
  /** Called with the result frame; not called for a cancelled request. */
  readonly finished: (id: string, frame: string) => Promise<void>;
}

interface Job {
  readonly request: RequestFrame;
  readonly stop: AbortController;
}

/** Queue of the requests to this device. Runs each request once, at most `concurrency` at a time. */
export class DeviceWork {
  readonly #parts: DeviceWorkParts;
  readonly #waiting: Job[] = [];
  readonly #jobs: Map<string, Job> = new Map();
  readonly #seen: SeenIds = new SeenIds();
  #running = 0;

  constructor(parts: DeviceWorkParts) {
    this.#parts = parts;
  }

  /** Ids of requests that are received and not finished. */
  ids(): string[] {
    return [...this.#jobs.keys()];
  }

  /** Queues a request. Returns false if it was received before. */
  take(request: RequestFrame): boolean {
    const { id } = request;
    if (!this.#seen.add(id)) return false;
    const job: Job = { request, stop: new AbortController() };
    this.#jobs.set(id, job);
    this.#waiting.push(job);
    this.#next();
    return true;
  }

  cancel(id: string, reason: string): void {
    const job = this.#jobs.get(id);
    if (job === undefined) return;
    this.#jobs.delete(id);
    job.stop.abort(new Error(reason));
  }

  cancelAll(reason: string): void {
    for (const id of this.ids()) this.cancel(id, reason);
  }

  #next(): void {
    while (this.#running < this.#parts.concurrency) {
      const job = this.#waiting.shift();
      if (job === undefined) return;
      if (job.stop.signal.aborted) continue;
      this.#running += 1;
      this.#run(job)
        .catch(() => undefined)
        .finally(() => {
          this.#running -= 1;
          this.#next();
        })
        .catch(() => undefined);
    }
  }

  async #run({ request, stop }: Job): Promise<void> {
    const { id } = request;
    const frame = await this.#resultFrameOf(request, stop.signal);
    // The request was cancelled meanwhile.
    if (!this.#jobs.has(id)) return;
    try {
      await this.#parts.finished(id, frame);
    } finally {
      this.#jobs.delete(id);
    }
  }

  async #resultFrameOf(request: RequestFrame, signal: AbortSignal): Promise<string> {
    const { id } = request;
    try {
      const value = await this.#execute(request, signal);
      if (!isToolCallResult(value)) return resultFrame(id, value);
      return value.success ? resultFrame(id, value.output) : errorFrame(id, value.error);
    } catch (error) {
      return errorFrame(id, messageOf(error), inputCodeOf(error));
    }
  }

  async #execute(request: RequestFrame, signal: AbortSignal): Promise<unknown> {
    const { id, name, args, attempt } = request;
    const tool = this.#parts.tools.get(name);
    const { handler, progress, inputs } = this.#parts;
    let deadlineAt = typeof request.deadline_at === 'string' ? new Date(request.deadline_at) : null;
    const call: DeviceCall = {
      id,
      name,
      args,
      attempt,
      get deadlineAt() {
        return deadlineAt;
      },
      signal,
      requestInput: inputs.forRequest(id, signal, (extended) => {
        deadlineAt = extended;
      }),
      progress: (data) => {
        if (!signal.aborted) progress(id, data);
      },
    };
    if (tool !== undefined) return await tool.run(args as never, call);
    if (handler !== null) return await handler(call);
    throw new Error('No handler registered');
  }
}

function resultFrame(id: string, output: unknown): string {
  return JSON.stringify({ type: 'tool_result', id, output: output ?? null, success: true });
}

export function errorFrame(id: string, error: string, code?: InputFailureCode): string {
  return JSON.stringify({ type: 'tool_error', id, error, success: false, code });
}

/** The code to report if the tool failed because it got no input. */
function inputCodeOf(error: unknown): InputFailureCode | undefined {
  return INPUT_FAILURE_CODES.find((code) => error instanceof PatchboardError && error.code === code);
}

function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message === '' ? error.name : error.message;
  return typeof error === 'string' ? error : 'Exception';
}
