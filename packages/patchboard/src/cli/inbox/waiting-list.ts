import { setTimeout as sleep } from 'node:timers/promises';
import { PatchboardError, type PatchboardClient } from '@patchboard/client';
import type { ApprovalRequestView, StreamEvent } from '@patchboard/wire';

export type WaitingListClient = Pick<PatchboardClient, 'approvals' | 'events'>;

export interface WaitingListener {
  changed(items: readonly ApprovalRequestView[]): void;
  /** A load failed; it is retried later. */
  lost(): void;
  /** The credential is not valid any more; there are no further loads. */
  failed(error: unknown): void;
}

/** Bound of the list. */
const MAX_ITEMS = 500;
const RETRY_MS = 1000;

export async function readWaiting(
  client: WaitingListClient,
  signal?: AbortSignal,
): Promise<ApprovalRequestView[]> {
  const items: ApprovalRequestView[] = [];
  for await (const item of client.approvals({ limit: 200, ...(signal === undefined ? {} : { signal }) })) {
    items.push(item);
    if (items.length === MAX_ITEMS) break;
  }
  return items;
}

/** Keeps the list up to date: loads it after each relevant event and on demand. */
export class WaitingList {
  readonly #client: WaitingListClient;
  readonly #listener: WaitingListener;
  readonly #signal: AbortSignal;
  #ids: ReadonlySet<string>;
  #loading: Promise<void> | null = null;
  #again = false;

  /** `parts.known` is the list that the listener already has. */
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

  /** Loads the list. Calls during a load share one further load after it. */
  load(): Promise<void> {
    if (this.#loading === null) this.#loading = this.#loadUntilQuiet();
    else this.#again = true;
    return this.#loading;
  }

  /** Follows the events until the signal is aborted. */
  async follow(): Promise<void> {
    while (!this.#signal.aborted) {
      try {
        for await (const event of this.#client.events({ signal: this.#signal })) {
          if (this.#concerns(event)) await this.load();
        }
      } catch (error) {
        // The credential may decide but not read events; the periodic loads still work.
        if (error instanceof PatchboardError && (error.status === 401 || error.status === 403)) return;
      }
      await sleep(RETRY_MS, undefined, { signal: this.#signal }).catch(() => undefined);
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
      // A refused credential is permanent; other errors may be temporary.
      if (error instanceof PatchboardError && error.status === 401) this.#listener.failed(error);
      else this.#listener.lost();
    } finally {
      this.#loading = null;
    }
  }

  /** Includes state changes of known calls, because expiry and cancellation also remove a request from the list. */
  #concerns({ type, data }: StreamEvent): boolean {
    if (type === 'permission_required' || type === 'permission_decided') return true;
    const id = (data as { readonly tool_call_id?: unknown } | null)?.tool_call_id;
    return type === 'call.state' && typeof id === 'string' && this.#ids.has(id);
  }
}

function idsOf(items: readonly ApprovalRequestView[]): ReadonlySet<string> {
  return new Set(items.map((item) => item.tool_call_id));
}
