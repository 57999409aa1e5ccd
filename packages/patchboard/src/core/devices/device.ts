import type { Call } from '../call/call.ts';
import type { LiveCall } from '../call/live-call.ts';

/** The way to a connected device. What it is given is on its way; whether it arrives, only an answer shows. */
export interface DeviceLink {
  request(call: Call): void;
  /** The call ended otherwise: stop working on it. */
  cancel(requestId: string, reason: string): void;
  /** Another connection of the same device took its place. */
  replaced(): void;
}

/** One connection of a device, or, while `link` is null, what is remembered of one that may come back. */
export interface Device {
  readonly session: string;
  readonly tenant: string;
  /** Who owns its tools. */
  readonly clientId: string;
  /** Tells the devices of one client apart. */
  readonly name: string;
  readonly connectedAt: number;
  /** Null: it does not come back. */
  readonly resumeToken: string | null;
  readonly tools: Set<string>;
  /** Open calls that it was sent. */
  readonly calls: Set<LiveCall>;
  /** Calls that are being recorded for it. */
  reserved: number;
  link: DeviceLink | null;
}

export function loadOf({ calls, reserved }: Device): number {
  return calls.size + reserved;
}
