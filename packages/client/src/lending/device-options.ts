import type { DeviceToolSpec, NotKept, RejectedTool, SubmissionError } from '@patchboard/wire';
import type { OpenSocket } from './device-socket.ts';
import type { DeviceTool } from './device-tool.ts';
import type { ToolCallHandler } from './device-work.ts';
import type { ErrorCode } from '../errors.ts';
import type { ClientOptions, RetryOptions } from '../http/options.ts';
import type { OutboxStorage } from './outbox.ts';

export interface DeviceOptions extends Pick<ClientOptions, 'key' | 'fetch' | 'clock' | 'random'> {
  /** The client that owns the tools. With a key, the key determines it. */
  readonly clientId?: string;
  /** Distinguishes the devices of one client. A call can name it as its `target`. */
  readonly name?: string;
  readonly tools?: readonly DeviceTool[];
  /** Tools without a `run` function; `handler` runs them. */
  readonly specs?: readonly DeviceToolSpec[];
  readonly handler?: ToolCallHandler;
  /** Maximum number of concurrent calls. Default 1: calls run in order of arrival. */
  readonly concurrency?: number;
  /** Storage that keeps unacknowledged results across a restart of this program. Default: memory only. */
  readonly outbox?: OutboxStorage;
  /** For web pages, which cannot store a key: called for a ticket before each connection. */
  readonly ticket?: () => string | Promise<string>;
  /** Default: the runtime's `WebSocket`. */
  readonly socket?: OpenSocket;
  /** Time limit for connecting and registering the tools; doubles after each timeout, up to eight times. Default 5,000. */
  readonly openTimeoutMs?: number;
  /** The back-off is reset after a connection has lasted this long. Default 30,000. */
  readonly stableMs?: number;
  /** As for a client, except that the default maximum delay is the server's grace period for disconnected devices. */
  readonly retry?: RetryOptions;
  readonly onState?: (state: DeviceState) => void;
  /** Called when the server acknowledges or refuses a result. */
  readonly onResult?: (fate: ResultFate) => void;
  /** Called for problems worth logging. The device itself handles them and loses no requests. */
  readonly onProblem?: (problem: DeviceProblem) => void;
}

export type DeviceState = 'connecting' | 'online' | 'waiting' | 'closed';

export interface ResultFate {
  /** Id of the request. */
  readonly id: string;
  readonly accepted: boolean;
  /** Why the result was not stored; null if it was. */
  readonly reason: NotKept | null;
  /** Set if the call failed although a result arrived, for example because it violates the output schema. */
  readonly error?: SubmissionError;
}

export interface DeviceProblem {
  readonly kind: 'connection' | 'rejected' | 'result' | 'server' | 'outbox';
  readonly message: string;
  /** The code with which the server refused the connection, if it did. The device keeps retrying. */
  readonly code?: ErrorCode;
}

/** A device that keeps its tools registered until it is closed, reconnecting as needed. */
export interface Device {
  readonly state: DeviceState;
  /** The tools that the server rejected in the latest registration, with reasons. */
  readonly rejected: readonly RejectedTool[];
  /** Number of results that the server has not acknowledged. */
  readonly unacknowledged: number;
  /** Resolves when the tools are registered for the first time. */
  readonly ready: Promise<void>;
  /** Aborts running work and disconnects; the server ends the device's calls. */
  close(): Promise<void>;
}
