import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Clock } from '../../core/ports.ts';
import { MAX_BODY_BYTES } from '../shared/guarded-fetch.ts';
import { LineSplitter, type LongLine } from './line-splitter.ts';
import { ConnectionLost, NotStarted } from './mcp-connection.ts';
import { endProcessGroup } from './process-group.ts';

/** How long output of other processes of the group is read after the server process ended, and how long it may live without one. */
const REST_OUTPUT_MS = 200;

export interface StdioCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Null: the working directory of this process. */
  readonly cwd: string | null;
}

export interface StdioTransportOptions {
  readonly clock: Clock;
  readonly onStderr: (chunk: Buffer) => void;
  /** A line over the limit was skipped. */
  readonly onLongLine: (line: LongLine) => void;
}

/**
 * A server that is a child process: a message is a line of its input or output. The process leads a group of its own, which is
 * ended as a whole: at close, and when the process ends by itself.
 */
export class StdioTransport implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  readonly #command: StdioCommand;
  readonly #options: StdioTransportOptions;
  #child: ChildProcess | null = null;
  /** Why the process ended; null: it runs, or was not started. */
  #end: string | null = null;
  #ending: Promise<void> | null = null;
  #onExit: () => void = () => {};
  readonly #exited: Promise<void> = new Promise((resolve) => (this.#onExit = resolve));

  constructor(command: StdioCommand, options: StdioTransportOptions) {
    this.#command = command;
    this.#options = options;
  }

  /** How the process ended by itself; null: it runs, or it was closed. */
  get exit(): string | null {
    return this.#end;
  }

  async start(): Promise<void> {
    if (this.#child !== null) throw new Error('the process was started before');
    const { command, args, env, cwd } = this.#command;
    // A group of its own (`detached`), so that it can be ended as a whole.
    const child = spawn(command, args, {
      env,
      cwd: cwd ?? undefined,
      stdio: 'pipe',
      detached: true,
      windowsHide: true,
    });
    this.#child = child;
    this.#read(child);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', (error) =>
        reject(cwd === null || existsSync(cwd) ? error : withoutFolder(error, cwd)),
      );
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (stdin === null || stdin === undefined || !stdin.writable || this.#end !== null)
      throw new ConnectionLost(`the process has ended${this.#end === null ? '' : ` (${this.#end})`}`);
    // What was written before stays in memory until the process reads it.
    if (stdin.writableLength > MAX_BODY_BYTES)
      throw new NotStarted('the process does not read its input', { mayRetry: true });
    const line = `${JSON.stringify(message)}\n`;
    await new Promise<void>((resolve, reject) => {
      stdin.write(line, (error) => {
        if (error === null || error === undefined) resolve();
        else reject(new ConnectionLost(`the process does not read its input: ${error.message}`));
      });
    });
  }

  /** Resolves when the group was ended. */
  async close(): Promise<void> {
    const child = this.#child;
    if (child === null) return this.#closed();
    child.stdin?.end();
    await this.#endGroup(child);
    this.#closed();
  }

  #read(child: ChildProcess): void {
    const lines = new LineSplitter(MAX_BODY_BYTES, (line) => this.#receive(line), this.#options.onLongLine);
    child.stdout?.on('data', (chunk: Buffer) => lines.write(chunk));
    child.stderr?.on('data', this.#options.onStderr);
    for (const stream of [child.stdin, child.stdout, child.stderr])
      stream?.on('error', (error) => this.onerror?.(error));
    child.on('error', (error) => this.onerror?.(error));
    let cancelMute = (): void => {};
    // A process that lives without its output would keep requests waiting.
    child.stdout?.once('end', () => {
      if (this.#end !== null) return;
      cancelMute = this.#options.clock.after(REST_OUTPUT_MS, () => {
        this.#end = 'it closed its output';
        this.#endGroup(child).catch((error: unknown) => this.onerror?.(error as Error));
        this.#closed();
      });
    });
    child.once('exit', (code, signal) => {
      cancelMute();
      this.#end ??= signal === null ? `exit code ${String(code)}` : `signal ${signal}`;
      this.#onExit();
      this.#endGroup(child).catch((error: unknown) => this.onerror?.(error as Error));
      // Another process that holds the pipe open must not keep requests waiting.
      const cancel = this.#options.clock.after(REST_OUTPUT_MS, () => this.#closed());
      child.once('close', () => {
        cancel();
        this.#closed();
      });
    });
  }

  #receive(line: string): void {
    let message: unknown;
    try {
      message = JSON.parse(line);
    } catch {
      this.onerror?.(new Error('the process wrote a line to its output that is not JSON'));
      return;
    }
    if (isMessage(message)) this.onmessage?.(message);
    else this.onerror?.(new Error('the process wrote a line to its output that is not a JSON-RPC message'));
  }

  #endGroup(child: ChildProcess): Promise<void> {
    const { pid } = child;
    if (pid === undefined) return Promise.resolve();
    this.#ending ??= endProcessGroup(pid, this.#options.clock, this.#exited).then(() => {
      for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.destroy();
    });
    return this.#ending;
  }

  #closed(): void {
    const { onclose } = this;
    delete this.onclose;
    onclose?.();
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';
}

/** Node reports a missing working directory as a missing command. */
function withoutFolder(error: Error, cwd: string): Error {
  return Object.assign(error, { message: `its working directory ${cwd} does not exist` });
}
