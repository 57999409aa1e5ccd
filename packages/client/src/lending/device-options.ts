import type { DeviceToolSpec, NotKept, RejectedTool, SubmissionError } from '@patchboard/wire';
import type { OpenSocket } from './device-socket.ts';
import type { DeviceTool } from './device-tool.ts';
import type { ToolCallHandler } from './device-work.ts';
import type { ErrorCode } from '../errors.ts';
import type { ClientOptions, RetryOptions } from '../http/options.ts';
import type { OutboxStorage } from './outbox.ts';

export interface DeviceOptions extends Pick<ClientOptions, 'key' | 'fetch' | 'clock' | 'random'> {
  /** Whose tools these are. With a key it is the key's. */
  readonly clientId?: string;
  /** Tells the devices of one client apart; what `target` of a call names. */
  readonly name?: string;
  readonly tools?: readonly DeviceTool[];
  /** Specs without a way to run them: `handler` does. */
  readonly specs?: readonly DeviceToolSpec[];
  readonly handler?: ToolCallHandler;
  /** How many calls run at once. Default 1: in the order they come. */
  readonly concurrency?: number;
  /** Keeps unacknowledged results over a restart of this program. Default: they are kept in memory. */
  readonly outbox?: OutboxStorage;
  /** For a page, which has no place for a key: asked for a ticket before each connection. */
  readonly ticket?: () => string | Promise<string>;
  /** Default: the runtime's `WebSocket`. */
  readonly socket?: OpenSocket;
  /** To connect and have the tools registered; doubles, up to eight times, while it is not enough. Default 5,000. */
  readonly openTimeoutMs?: number;
  /** Connected so long, a connection counts as stable, and the next failure as the first. Default 30,000. */
  readonly stableMs?: number;
  /** As for a client, but the longest pause is by default the time the server waits for a device that was cut off. */
  readonly retry?: RetryOptions;
  readonly onState?: (state: DeviceState) => void;
  /** What the server said became of a result. */
  readonly onResult?: (fate: ResultFate) => void;
  /** What a person should know of; nothing that was asked for is lost by it. */
  readonly onProblem?: (problem: DeviceProblem) => void;
}

export type DeviceState = 'connecting' | 'online' | 'waiting' | 'closed';

export interface ResultFate {
  /** Of the request. */
  readonly id: string;
  readonly accepted: boolean;
  /** Why it was not kept. */
  readonly reason: NotKept | null;
  /** How the call failed although a result was sent, such as one that breaks the output schema. */
  readonly error?: SubmissionError;
}

export interface DeviceProblem {
  readonly kind: 'connection' | 'rejected' | 'result' | 'server' | 'outbox';
  readonly message: string;
  /** What the server refused the connection with, where it did: a device goes on trying, a person may see to it. */
  readonly code?: ErrorCode;
}

/** A device that lends its tools for as long as it runs, over as many connections as that takes. */
export interface Device {
  readonly state: DeviceState;
  /** What the server did not take, and why; of the latest registration. */
  readonly rejected: readonly RejectedTool[];
  /** Results that the server has not acknowledged. */
  readonly unacknowledged: number;
  /** Resolves when the tools are registered for the first time. */
  readonly ready: Promise<void>;
  /** Says goodbye: running work is told to stop, and the server ends its calls. */
  close(): Promise<void>;
}
