import type { Call } from '../call/call.ts';
import type { InputRound } from '../call/input.ts';
import type { LiveCall } from '../call/live-call.ts';

/** Sends messages to a connected device, without confirmation of delivery. */
export interface DeviceLink {
  request(call: Call): void;
  /** Tells the device to stop working on a call that has ended. */
  cancel(requestId: string, reason: string): void;
  /** Sends the caller's response to an input request. */
  inputGiven(call: Call, round: InputRound): void;
  /** Closes this connection, because a newer one of the same device replaced it. */
  replaced(): void;
}

/** `left`: closed by the device. `lost`: may resume. `closing`: the server stops; its next process resumes the calls. */
export type DisconnectReason = 'left' | 'lost' | 'closing';

/** One connection of a device. `link` is null while it is disconnected and may resume. */
export interface Device {
  readonly session: string;
  /** The session that this one continues, over all its resumptions; its own if it continues none. */
  readonly firstSession: string;
  readonly tenant: string;
  /** The client that owns its tools. */
  readonly clientId: string;
  /** Distinguishes the devices of one client. */
  readonly name: string;
  readonly connectedAt: number;
  /** Null: the connection cannot be resumed. */
  readonly resumeToken: string | null;
  readonly tools: Set<string>;
  /** Open calls that were sent to the device. */
  readonly calls: Set<LiveCall>;
  /** Number of calls that are being recorded for the device and not yet sent. */
  reserved: number;
  link: DeviceLink | null;
}

export function loadOf({ calls, reserved }: Device): number {
  return calls.size + reserved;
}
