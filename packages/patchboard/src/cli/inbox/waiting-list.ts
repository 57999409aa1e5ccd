import { setTimeout as sleep } from 'node:timers/promises';
import { PatchboardError, type PatchboardClient } from '@patchboard/client';
import type { ApprovalRequestView, StreamEvent } from '@patchboard/wire';

export type WaitingListClient = Pick<PatchboardClient, 'approvals' | 'events'>;

/** What becomes of the list. */
export interface WaitingListener {
  changed(items: readonly ApprovalRequestView[]): void;
  /** The server could not be asked; it is asked again later. */
  lost(): void;
  /** Nothing will come any more. */
  failed(error: unknown): void;
}

/** More than anybody reads; the title says how many are shown. */
const MOST_ITEMS = 500;
const PAUSE_MS = 1000;

export async function readWaiting(
  client: WaitingListClient,
  signal?: AbortSignal,
): Promise<ApprovalRequestView[]> {
  const items: ApprovalRequestView[] = [];
  for await (const item of client.approvals({ limit: 200, ...(signal === undefined ? {} : { signal }) })) {
    items.push(item);
    if (items.length === MOST_ITEMS) break;
  }
  return items;
}

/** Keeps the list true: asks for it whenever an event says that it changed, and whenever it is told to. */
export class WaitingList {
  readonly #client: WaitingListClient;
  readonly #listener: WaitingListener;
  readonly #signal: AbortSignal;
  #ids: ReadonlySet<string>;
  #loading: Promise<void> | null = null;
  #again = false;

  /** `parts.known`: what the listener has been shown already. */
  constructor(
    client: WaitingListClient,
    listener: WaitingListener,
    parts: { readonly known: readonly ApprovalRequestView[]; readonly signal: AbortSignal },
  ) {
    this.#client = client;
    this.#listener = listener;
    this.#signal = parts.signal;
    this.#ids = idsOf(parts.known);
  }

  /** One at a time; what is asked for meanwhile is asked once more afterwards. */
  load(): Promise<void> {
    if (this.#loading === null) this.#loading = this.#loadUntilQuiet();
    else this.#again = true;
    return this.#loading;
  }

  /** Follows the events until the signal. */
  async follow(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        for await (const event of this.#client.events({ signal: this.#signal })) {
          if (this.#concerns(event)) await this.load();
        }
      } catch (error) {
        // A credential that may decide but not read events: whoever asks from time to time is told all the same.
        if (error instanceof PatchboardError && (error.status === 401 || error.status === 403)) return;
      }
      await sleep(PAUSE_MS, undefined, { signal: this.#signal }).catch(() => undefined);
    }
  }

  async #loadUntilQuiet(): Promise<void> {
    try {
      do {
        this.#again = false;
        const items = await readWaiting(this.#client, this.#signal);
        this.#ids = idsOf(items);
        this.#listener.changed(items);
      } while (this.#again && !this.#signal.aborted);
    } catch (error) {
      if (this.#signal.aborted) return;
      // Without a credential nothing comes any more; everything else may pass.
      if (error instanceof PatchboardError && error.status === 401) this.#listener.failed(error);
      else this.#listener.lost();
    } finally {
      this.#loading = null;
    }
  }

  /** Expiry and cancellation are no decisions, but they end the waiting as well. */
  #concerns({ type, data }: StreamEvent): boolean {
    if (type === 'permission_required' || type === 'permission_decided') return true;
    const id = (data as { readonly tool_call_id?: unknown } | null)?.tool_call_id;
    return type === 'call.state' && typeof id === 'string' && this.#ids.has(id);
  }
}

function idsOf(items: readonly ApprovalRequestView[]): ReadonlySet<string> {
  return new Set(items.map((item) => item.tool_call_id));
}
