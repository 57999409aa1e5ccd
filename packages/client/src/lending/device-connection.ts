import { DEVICE_PROTOCOL, type DeviceFrame, type GatewayFrame } from '@patchboard/wire';
import type { ClientClock } from '../http/runtime.ts';
import type { SocketLike } from './device-socket.ts';

export type Welcome = Extract<GatewayFrame, { type: 'welcome' }>;

export interface ConnectionParts {
  readonly clock: ClientClock;
  /** Time limit for opening the socket and receiving `welcome`. */
  readonly openingMs: number;
  /** Called when the socket is open, so that the content of `hello` is current. */
  readonly hello: () => Omit<Extract<DeviceFrame, { type: 'hello' }>, 'type' | 'protocol'>;
  readonly welcomed: (welcome: Welcome) => void;
  readonly heard: (frame: GatewayFrame) => void;
  /** Called exactly once, however the connection ended. */
  readonly closed: (code: number, reason: string) => void;
}

/** The connection is closed after this many heartbeat intervals without a message. */
const MISSED_HEARTBEATS = 3;

/** Browsers do not reveal to a page why a socket failed to open. */
const NOT_OPENED =
  'the socket did not open: the server is unreachable, refuses the origin of this page, or requires a key';

/** One WebSocket connection. It closes itself if the server stops sending heartbeats. */
export class Connection {
  readonly #parts: ConnectionParts;
  readonly #socket: SocketLike;
  #isOver = false;
  #wasOpen = false;
  #heardAt: number;
  #disarm: () => void;

  constructor(socket: SocketLike, parts: ConnectionParts) {
    this.#socket = socket;
    this.#parts = parts;
    this.#heardAt = parts.clock.now();
    this.#disarm = parts.clock.after(parts.openingMs, () => this.#end(1006, 'the server did not respond'));
    socket.onopen = () => {
      this.#wasOpen = true;
      this.send({ type: 'hello', protocol: DEVICE_PROTOCOL, ...parts.hello() });
    };
    socket.onmessage = ({ data }) => this.#hear(data);
    socket.onclose = ({ code, reason }) => this.#over(code ?? 1006, reason ?? '');
    // `onclose` follows, except in runtimes that fire only `onerror`.
    socket.onerror = () => this.#end(1006, this.#wasOpen ? 'the socket failed' : NOT_OPENED);
  }

  send(frame: DeviceFrame): void {
    this.sendText(JSON.stringify(frame));
  }

  /** Drops the text if the connection is closed; the caller sends it again over the next connection if needed. */
  sendText(text: string): void {
    if (this.#isOver) return;
    try {
      this.#socket.send(text);
    } catch {
      this.#end(1006, 'the socket does not accept more data');
    }
  }

  close(code: number, reason: string): void {
    this.#end(code, reason);
  }

  #hear(data: unknown): void {
    if (this.#isOver || typeof data !== 'string') return;
    this.#heardAt = this.#parts.clock.now();
    const frame = decode(data);
    if (frame === null) return;
    if (frame.type === 'welcome') {
      this.#parts.welcomed(frame);
      this.#beat(frame.heartbeat_ms);
    } else if (frame.type === 'ping') this.send({ type: 'pong' });
    else if (frame.type !== 'pong') this.#parts.heard(frame);
  }

  #beat(everyMs: number): void {
    this.#disarm();
    if (this.#isOver) return;
    this.#disarm = this.#parts.clock.after(everyMs, () => {
      if (this.#parts.clock.now() - this.#heardAt >= MISSED_HEARTBEATS * everyMs) {
        this.#end(1006, 'the server sends no heartbeats any more');
        return;
      }
      this.send({ type: 'ping' });
      this.#beat(everyMs);
    });
  }

  /** Does not wait for the peer's close frame, because the peer may be gone. */
  #end(code: number, reason: string): void {
    if (this.#isOver) return;
    try {
      this.#socket.close(code === 1000 ? 1000 : 4000, reason);
    } catch {
      // The socket was never open or is already closed.
    }
    this.#over(code, reason);
  }

  #over(code: number, reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#disarm();
    this.#socket.onopen = null;
    this.#socket.onmessage = null;
    this.#socket.onclose = null;
    // An error event after the end must not crash the program.
    this.#socket.onerror = () => undefined;
    this.#parts.closed(code, reason);
  }
}

/** Returns null for a message that is not understood; it is ignored. */
function decode(text: string): GatewayFrame | null {
  try {
    const frame = JSON.parse(text) as { type?: unknown };
    return typeof frame === 'object' && frame !== null && typeof frame.type === 'string'
      ? (frame as GatewayFrame)
      : null;
  } catch {
    return null;
  }
}
