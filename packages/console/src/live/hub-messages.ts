import type { ReasonView, StreamEvent } from '@patchboard/wire';

/** `paused`: no stream is open for this tab, so that others keep connections of the browser. */
export type LiveState = 'connecting' | 'live' | 'lost' | 'paused';

/** Identifies an event stream: the tenant, and the session whose events it has. */
export interface Subscription {
  /** Null if not signed in. */
  readonly proof: string | null;
  readonly tenant: string;
}

/** Why a stream is down, as a code; the tab translates it. */
export interface StreamProblem {
  readonly code: string;
  readonly message: string;
  readonly reasons?: readonly ReasonView[];
}

/** From a tab. `follow` is repeated as a heartbeat, and the hub replies to each with a `status`. */
export type TabMessage =
  (Subscription & { readonly kind: 'follow'; readonly isVisible: boolean }) | { readonly kind: 'leave' };

/** To a tab. */
export type HubMessage =
  | {
      readonly kind: 'status';
      readonly state: LiveState;
      readonly problem: StreamProblem | null;
      /** The tab joins with this message: it has missed every event before it. */
      readonly isNew: boolean;
    }
  | { readonly kind: 'event'; readonly event: StreamEvent };
