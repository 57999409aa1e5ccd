import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { cleanEnvironment, ROOT } from '../../support/server-process.ts';
import { waitFor } from '../../support/wait-for.ts';

export const LAUNCHER: string = join(ROOT, 'packages', 'patchboard', 'bin', 'patchboard.mjs');

/** A JSON-RPC message, with the members that the tests read. */
export interface Message {
  readonly jsonrpc: '2.0';
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** `patchboard mcp` as a process. */
export interface BridgeProcess {
  readonly pid: number;
  send(message: unknown): void;
  sendLine(line: string): void;
  /** The messages on stdout so far. Every line must be JSON. */
  received(): Message[];
  /** Resolves to the response to a request. */
  response(id: string | number | null): Promise<Message>;
  /** Sends a request and resolves to its response. */
  request(id: string | number, method: string, params?: Record<string, unknown>): Promise<Message>;
  stdout(): string;
  stderr(): string;
  /** Ends stdin, and resolves to the exit code. */
  end(): Promise<number | null>;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export interface BridgeOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** The Node that runs it. Default: the one of the tests. */
  readonly node?: readonly string[];
}

export function aBridge({ args = [], env = {}, cwd = ROOT, node }: BridgeOptions = {}): BridgeProcess {
  const [file = process.execPath, ...flags] = node ?? [];
  const child = spawn(file, [...flags, LAUNCHER, 'mcp', ...args], {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let out = '';
  let error = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (error += text));
  const closed = once(child, 'close');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  const received = (): Message[] =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Message);
  const bridge: BridgeProcess = {
    pid: child.pid ?? 0,
    send: (message) => bridge.sendLine(JSON.stringify(message)),
    sendLine: (line) => void child.stdin.write(`${line}\n`),
    received,
    response: (id) =>
      waitFor(() => {
        const found = received().find((message) => message.id === id && message.method === undefined);
        if (found === undefined) throw new Error(`no response to ${id}: ${out}${error}`);
        return found;
      }),
    request: (id, method, params = {}) => {
      bridge.send({ jsonrpc: '2.0', id, method, params });
      return bridge.response(id);
    },
    stdout: () => out,
    stderr: () => error,
    end: async () => {
      child.stdin.end();
      await closed;
      return child.exitCode;
    },
    kill: async (signal) => {
      child.kill(signal);
      await closed;
    },
  };
  return bridge;
}

/** The `params` of a modern request. */
export function modern(params: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  };
}

export const INITIALIZE = {
  protocolVersion: '2025-06-18',
  capabilities: { elicitation: {} },
  clientInfo: { name: 'test', version: '1' },
};
