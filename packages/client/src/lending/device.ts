import type { DeviceToolSpec, GatewayFrame, RejectedTool } from '@patchboard/wire';
import { record } from '../decode/decode.ts';
import { Connection, type Welcome } from './device-connection.ts';
import { DeviceInputs } from './device-inputs.ts';
import type { Device, DeviceOptions, DeviceProblem, DeviceState } from './device-options.ts';
import { ReconnectTiming } from './reconnect-timing.ts';
import { defaultSocket, httpUrl, socketUrl } from './device-socket.ts';
import { toDeviceSpec } from './device-tool.ts';
import { DeviceWork, errorFrame } from './device-work.ts';
import { NetworkError, PatchboardError, type ErrorCode } from '../errors.ts';
import { request } from '../http/http.ts';
import { positive, resolveSettings, type Settings } from '../http/options.ts';
import { Outbox } from './outbox.ts';
import { utf8Length } from './utf8-length.ts';

const RESEND_MS = 1000;

/** Connects a device. It reconnects until it is closed. */
export function connectDevice(url: string, options: DeviceOptions = {}): Device {
  return new SocketDevice(url, options);
}

class SocketDevice implements Device {
  readonly ready: Promise<void>;
  readonly #url: string;
  readonly #options: DeviceOptions;
  readonly #settings: Settings;
  readonly #specs: readonly DeviceToolSpec[];
  readonly #inputs: DeviceInputs;
  readonly #work: DeviceWork;
  readonly #outbox: Outbox;
  readonly #timing: ReconnectTiming;
  #state: DeviceState = 'connecting';
  #rejected: readonly RejectedTool[] = [];
  #connection: Connection | null = null;
  #welcome: Welcome | null = null;
  /** Whether the current connection has received `welcome`. */
  #isWelcomed = false;
  #disarm: () => void = () => undefined;
  #settled: { resolve: () => void; reject: (error: Error) => void } | null = null;

  constructor(url: string, options: DeviceOptions) {
    this.#url = url;
    this.#options = options;
    this.#settings = resolveSettings({
      ...options,
      url: httpUrl(url),
      retry: { baseDelayMs: 250, ...options.retry },
    });
    this.#timing = new ReconnectTiming(this.#settings, options);
    const tools = options.tools ?? [];
    this.#specs = [...(options.specs ?? []), ...tools.map(toDeviceSpec)];
    this.#outbox = new Outbox(options.outbox ?? null, (error) => this.#problem('outbox', String(error)));
    this.#inputs = new DeviceInputs(
      (frame) => this.#send(frame),
      () => this.#maxFrameBytes(),
    );
    this.#work = new DeviceWork({
      tools: new Map(tools.map((tool) => [tool.name, tool])),
      handler: options.handler ?? null,
      concurrency: positive('concurrency', options.concurrency ?? 1),
      progress: (id, data) => this.#send(JSON.stringify({ type: 'progress', id, data })),
      inputs: this.#inputs,
      finished: (id, frame) => this.#finished(id, frame),
    });
    this.ready = new Promise<void>((resolve, reject) => {
      this.#settled = { resolve, reject };
    });
    // Avoids an unhandled rejection; the error is also reported to `onProblem`.
    this.ready.catch(() => undefined);
    this.#outbox
      .load()
      .catch((error: unknown) => this.#problem('outbox', String(error)))
      .then(() => this.#connect())
      .catch(() => undefined);
  }

  get state(): DeviceState {
    return this.#state;
  }

  get rejected(): readonly RejectedTool[] {
    return this.#rejected;
  }

  get unacknowledged(): number {
    return this.#outbox.size;
  }

  async close(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#enter('closed');
    this.#disarm();
    this.#work.cancelAll('the device was closed');
    this.#connection?.close(1000, 'the device was closed');
    this.#settled?.reject(new NetworkError('the device was closed before it was online'));
    await Promise.resolve();
  }

  async #connect(): Promise<void> {
    if (this.#state === 'closed') return;
    this.#enter('connecting');
    try {
      const ticket = await ticketFor(this.#settings, this.#options);
      if (this.#isClosed()) return;
      const socket = (this.#options.socket ?? defaultSocket)(socketUrl(this.#url, ticket));
      this.#connection = new Connection(socket, {
        clock: this.#settings.clock,
        openingMs: this.#timing.openingMs,
        hello: () => this.#hello(),
        welcomed: (welcome) => this.#welcomed(welcome),
        heard: (frame) => this.#heard(frame),
        closed: (code, reason) =>
          this.#lost(reason === '' ? `the connection was lost (${code})` : `${reason} (${code})`),
      });
    } catch (error) {
      if (error instanceof TypeError) {
        // Invalid options: retrying cannot help.
        this.#settled?.reject(error);
        this.#problem('connection', error.message);
        this.#enter('closed');
        return;
      }
      const refusal = error instanceof PatchboardError && error.kind === 'problem' ? error.code : undefined;
      this.#lost(error instanceof Error ? error.message : String(error), refusal);
    }
  }

  #hello(): { client_id?: string; name?: string; resume?: string; holding: string[] } {
    const { clientId, name } = this.#options;
    return {
      ...(clientId === undefined ? {} : { client_id: clientId }),
      ...(name === undefined ? {} : { name }),
      ...(this.#welcome === null ? {} : { resume: this.#welcome.resume_token }),
      holding: [...new Set([...this.#work.ids(), ...this.#outbox.ids()])],
    };
  }

  #welcomed(welcome: Welcome): void {
    this.#welcome = welcome;
    this.#timing.welcomed(welcome.grace_ms);
    this.#isWelcomed = true;
    this.#connection?.send({ type: 'register_tools', tools: this.#specs });
    for (const frame of [...this.#inputs.frames(), ...this.#outbox.frames()])
      this.#connection?.sendText(frame);
    this.#disarm();
    // The server's error for a registration that it could not store has no id, so retry on a timeout.
    this.#disarm = this.#settings.clock.after(this.#timing.openingMs, () => {
      this.#connection?.close(4000, 'no response to the registration');
    });
  }

  #heard(frame: GatewayFrame): void {
    switch (frame.type) {
      case 'tools_registered':
        this.#registered(frame.rejected);
        return;
      case 'tool_call_request':
        // A duplicate: its result is on its way, or was lost with a connection.
        if (!this.#work.take(frame)) this.#resend(frame.id);
        return;
      case 'cancel':
        this.#work.cancel(frame.id, frame.reason);
        return;
      case 'input_response':
        this.#inputs.responded(frame);
        return;
      case 'input_refused':
        this.#inputs.refused(frame);
        return;
      case 'result_acknowledged':
        this.#acknowledged(frame);
        return;
      case 'error':
        this.#problem('server', frame.message);
        if (frame.id !== undefined) this.#resendLater(frame.id, this.#inputs.failed(frame));
        return;
      default:
    }
  }

  #registered(rejected: readonly RejectedTool[]): void {
    this.#rejected = rejected;
    this.#timing.registered();
    this.#disarm();
    // Reset the back-off only after a stable connection: the server may accept and drop connections at once.
    this.#disarm = this.#settings.clock.after(this.#options.stableMs ?? 30_000, () => {
      this.#timing.stable();
    });
    for (const { name, code, reason } of rejected) this.#problem('rejected', `${name}: ${reason} (${code})`);
    this.#enter('online');
    this.#settled?.resolve();
  }

  #acknowledged(frame: Extract<GatewayFrame, { type: 'result_acknowledged' }>): void {
    const { id, accepted, reason = null, error } = frame;
    this.#outbox.delete(id).catch(() => undefined);
    this.#notify(() =>
      this.#options.onResult?.({ id, accepted, reason, ...(error === undefined ? {} : { error }) }),
    );
    const why = error?.message ?? reason ?? 'no reason given';
    if (!accepted || error !== undefined) this.#problem('result', `the result of ${id} was not kept: ${why}`);
  }

  #maxFrameBytes(): number {
    return this.#welcome?.max_frame_bytes ?? Number.POSITIVE_INFINITY;
  }

  async #finished(id: string, frame: string): Promise<void> {
    const limit = this.#maxFrameBytes();
    const isTooLarge = frame.length > limit || (frame.length * 3 > limit && utf8Length(frame) > limit);
    const stored = isTooLarge ? errorFrame(id, `the result is larger than ${limit} bytes`) : frame;
    await this.#outbox.put(id, stored);
    this.#send(stored);
  }

  #resend(id: string): void {
    const frame = this.#outbox.get(id);
    if (frame !== undefined) this.#send(frame);
  }

  /** Drops the frame before `welcome`: sending on a socket that is still opening would close it. */
  #send(frame: string): void {
    if (this.#isWelcomed) this.#connection?.sendText(frame);
  }

  /** Retries after the server could not store the result or the input request. */
  #resendLater(id: string, hasInput: boolean): void {
    if (this.#outbox.has(id)) this.#settings.clock.after(RESEND_MS, () => this.#resend(id));
    else if (hasInput) this.#settings.clock.after(RESEND_MS, () => this.#inputs.resend(id));
  }

  #lost(why: string, refusal?: ErrorCode): void {
    this.#connection = null;
    const wasOnline = this.#state === 'online';
    this.#isWelcomed = false;
    this.#disarm();
    if (this.#isClosed()) return;
    this.#problem('connection', why, refusal);
    this.#enter('waiting');
    this.#disarm = this.#settings.clock.after(this.#timing.lost(wasOnline), () => {
      this.#connect().catch(() => undefined);
    });
  }

  #isClosed(): boolean {
    return this.#state === 'closed';
  }

  #enter(state: DeviceState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#notify(() => this.#options.onState?.(state));
  }

  #problem(kind: DeviceProblem['kind'], message: string, code?: ErrorCode): void {
    this.#notify(() => this.#options.onProblem?.({ kind, message, ...(code === undefined ? {} : { code }) }));
  }

  /** Calls a listener. What it throws is thrown again from a timer: here it would keep the device from reconnecting. */
  #notify(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.#settings.clock.after(0, () => {
        throw error;
      });
    }
  }
}

/** Exchanges the key for a single-use ticket, because a key must not be part of a URL. Returns null if no ticket is needed. */
async function ticketFor(
  settings: Settings,
  { key, clientId, ticket }: DeviceOptions,
): Promise<string | null> {
  if (ticket !== undefined) return await ticket();
  if (key === undefined) return null;
  const body = clientId === undefined ? {} : { client_id: clientId };
  const bounds = { signal: undefined, deadline: Number.POSITIVE_INFINITY };
  const made = await request(
    settings,
    { method: 'POST', path: '/v1/tickets', body, repeat: 'unsafe' },
    record,
    bounds,
  );
  return String(made['ticket']);
}
