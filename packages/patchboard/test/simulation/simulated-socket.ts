import { EventEmitter } from 'node:events';
import type { Kernel } from './kernel.ts';
import type { SimulatedProcess } from './simulated-process.ts';

/** The other end of a simulated WebSocket. */
export interface SocketPeer {
  received(text: string): void;
  closed(code: number): void;
}

const OPEN = 1;
const CLOSING = 2;
const CLOSED = 3;
const ABNORMAL = 1006;

/**
 * The server's end of a WebSocket, with the members of `ws` that the device gateway uses. Messages of one direction keep their
 * order. After `cut` no message arrives at either end, and the server notices nothing by itself.
 */
export class SimulatedSocket extends EventEmitter {
  readonly OPEN = OPEN;
  readonly bufferedAmount = 0;
  readyState = OPEN;
  isPaused = false;
  readonly #kernel: Kernel;
  readonly #process: SimulatedProcess;
  readonly #delay: () => number;
  readonly #peer: SocketPeer;
  readonly #toPeer: (() => void)[] = [];
  readonly #toServer: (() => void)[] = [];
  #isCut = false;
  #isPeerClosed = false;

  constructor(kernel: Kernel, process: SimulatedProcess, delay: () => number, peer: SocketPeer) {
    super();
    this.#kernel = kernel;
    this.#process = process;
    this.#delay = delay;
    this.#peer = peer;
    process.onKilled(() => this.#send(this.#toPeer, () => this.#closePeer(ABNORMAL)));
  }

  // The members that the gateway uses.

  send(text: string): void {
    this.#send(this.#toPeer, () => {
      if (!this.#isPeerClosed) this.#peer.received(text);
    });
  }

  ping(): void {
    this.#send(this.#toPeer, () => this.#enter(() => this.emit('pong', Buffer.alloc(0))));
  }

  pong(): void {}

  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
    this.#read();
  }

  close(code: number): void {
    if (this.readyState !== OPEN) return;
    this.readyState = CLOSING;
    this.#send(this.#toPeer, () => {
      this.#closePeer(code);
      this.#enter(() => this.#closed(code));
    });
  }

  terminate(): void {
    this.#kernel.after(0, () => this.#process.enter(() => this.#closed(ABNORMAL)));
    this.#send(this.#toPeer, () => this.#closePeer(ABNORMAL));
  }

  // The members that the device uses.

  /** Sends a message of the device. */
  fromPeer(text: string): void {
    this.#enter(() => {
      if (this.readyState === OPEN) this.emit('message', Buffer.from(text, 'utf8'), false);
    });
  }

  /** The device closes the connection. */
  closeFromPeer(): void {
    this.#isPeerClosed = true;
    this.#enter(() => this.#closed(1000));
  }

  /** The connection is gone, and messages on their way are lost. The server notices it after `noticedMs`; null: never. */
  cut(noticedMs: number | null): void {
    this.#isCut = true;
    this.#isPeerClosed = true;
    if (noticedMs !== null)
      this.#kernel.after(noticedMs, () => this.#process.enter(() => this.#closed(ABNORMAL)));
  }

  #closed(code: number): void {
    if (this.readyState === CLOSED) return;
    this.readyState = CLOSED;
    this.emit('close', code);
  }

  #closePeer(code: number): void {
    if (this.#isPeerClosed) return;
    this.#isPeerClosed = true;
    this.#peer.closed(code);
  }

  #enter(action: () => void): void {
    this.#send(this.#toServer, () =>
      this.#process.enter(() => {
        this.#unread.push(action);
        this.#read();
      }),
    );
  }

  readonly #unread: (() => void)[] = [];

  #read(): void {
    while (!this.isPaused) {
      const action = this.#unread.shift();
      if (action === undefined) return;
      action();
    }
  }

  /** Each event takes the oldest message, whichever message it was scheduled for. */
  #send(queue: (() => void)[], action: () => void): void {
    queue.push(action);
    this.#kernel.after(this.#delay(), () => {
      const next = queue.shift();
      if (!this.#isCut) next?.();
    });
  }
}
