import type { Principal } from '../../../core/access/principal.ts';
import type { EventFeed } from '../../../core/ledger/events.ts';
import type { HttpContext } from '../../shared/http/context.ts';

/** The lists whose changes a client can be notified of. */
export type ListName = 'tools' | 'prompts' | 'resources';

/** What a client wants to be notified of. */
export interface WantedChanges {
  readonly lists: ReadonlySet<ListName>;
  /** URIs of resources. Those that the principal does not see are ignored. */
  readonly uris: Iterable<string>;
}

export type Notify = (method: string, params: Readonly<Record<string, unknown>>) => void;

/** Changes within this time become one notification. */
const COALESCE_MS = 100;

/** Notifies of changes of lists and resources until the returned function is called. */
export function followChanges(
  context: HttpContext,
  principal: Principal,
  { lists, uris }: WantedChanges,
  notify: Notify,
): () => void {
  const { engine } = context;
  const changes = changesOf(context);
  const follower: Follower = { principal, lists, notify };
  const stops = [changes.add(follower)];
  for (const uri of uris) {
    const watched = engine.resources.watch(principal, uri, () =>
      changes.note(follower, uri, 'notifications/resources/updated', { uri }),
    );
    if (watched.ok) stops.push(watched.value);
  }
  return () => {
    for (const stop of stops) stop();
  };
}

/** One notifier for all clients of a server: one listener on the event feed, and one timer. */
const ALL_CHANGES: WeakMap<HttpContext, ListChanges> = new WeakMap();

function changesOf(context: HttpContext): ListChanges {
  const known = ALL_CHANGES.get(context) ?? new ListChanges(context);
  ALL_CHANGES.set(context, known);
  return known;
}

interface Follower {
  readonly principal: Principal;
  readonly lists: ReadonlySet<ListName>;
  readonly notify: Notify;
}

type FeedEvent = Parameters<Parameters<EventFeed['listen']>[0]>[0];

class ListChanges {
  readonly #context: HttpContext;
  /** Each with the notifications that are due, by what they are about. */
  readonly #followers: Map<Follower, Map<string, () => void>> = new Map();
  #unlisten: (() => void) | null = null;
  #disarm: (() => void) | null = null;

  constructor(context: HttpContext) {
    this.#context = context;
  }

  add(follower: Follower): () => void {
    this.#followers.set(follower, new Map());
    this.#unlisten ??= this.#context.engine.feed.listen((event) => this.#happened(event));
    return () => {
      this.#followers.delete(follower);
      if (this.#followers.size > 0) return;
      this.#unlisten?.();
      this.#unlisten = null;
      this.#disarm?.();
      this.#disarm = null;
    };
  }

  /** Sends the notification at the end of the present interval, once. */
  note(follower: Follower, subject: string, method: string, params: Readonly<Record<string, unknown>>): void {
    const due = this.#followers.get(follower);
    if (due === undefined) return;
    due.set(subject, () => follower.notify(method, params));
    this.#disarm ??= this.#context.clock.after(COALESCE_MS, () => this.#send());
  }

  #send(): void {
    this.#disarm = null;
    for (const [follower, due] of this.#followers) {
      const notifications = [...due.values()];
      due.clear();
      // A notification may end the stream of its follower.
      for (const send of notifications) if (this.#followers.has(follower)) send();
    }
  }

  #happened(event: FeedEvent): void {
    const list = listOf(event);
    if (list === null) return;
    for (const follower of this.#followers.keys())
      if (follower.lists.has(list) && this.#concerns(follower.principal, event))
        this.note(follower, list, `notifications/${list}/list_changed`, {});
  }

  /** Whether the principal's own list may have changed. */
  #concerns(principal: Principal, event: FeedEvent): boolean {
    if (event.type === 'policy.changed') return event.tenant === null || event.tenant === principal.tenant;
    const seen = this.#context.engine.feed.seenBy(principal, event);
    // A resource whose contents changed is still listed as before.
    return seen !== null && !('updated' in (seen.data as object));
  }
}

function listOf({ type }: FeedEvent): ListName | null {
  switch (type) {
    case 'registry.changed':
    case 'policy.changed':
      return 'tools';
    case 'prompts.changed':
      return 'prompts';
    case 'resources.changed':
      return 'resources';
    default:
      return null;
  }
}
