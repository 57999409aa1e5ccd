import { rfc3339 } from '@patchboard/wire';
import type { Principal } from '../access/principal.ts';
import type { EventFeed } from '../ledger/events.ts';
import type { Clock } from '../ports.ts';
import type { ResourceIndex } from './resource-index.ts';
import type { Entry } from './sorted-entries.ts';

export interface ResourceChangesParts {
  readonly clock: Clock;
  readonly feed: EventFeed;
  readonly index: ResourceIndex;
}

/** Publishes changes as events, each principal's part of them, and to the watchers of single resources. */
export class ResourceChanges {
  readonly #parts: ResourceChangesParts;
  readonly #watchers: Map<string, Set<() => void>> = new Map();

  constructor(parts: ResourceChangesParts) {
    this.#parts = parts;
  }

  listed(
    type: 'resources.changed' | 'prompts.changed',
    member: 'added' | 'removed',
    entries: readonly Entry[],
  ): void {
    if (entries.length === 0) return;
    const { feed, index } = this.#parts;
    const at = this.#now();
    feed.changed(type, (principal) => {
      const keys = entries.filter((entry) => index.sees(principal, entry)).map(({ key }) => key);
      return keys.length === 0 ? null : { at, [member]: keys };
    });
  }

  /**
   * Events name listed resources only. The template of any other URI does not say which principals may read it, so only
   * those who watch the URI learn of the change.
   */
  updated(uri: string): void {
    const { feed, index } = this.#parts;
    const resource = index.resources.get(uri);
    const at = this.#now();
    if (resource !== undefined)
      feed.changed('resources.changed', (principal) =>
        index.sees(principal, resource) ? { at, updated: [uri] } : null,
      );
    for (const updated of this.#watchers.get(uri) ?? []) updated();
  }

  /** The packs of a tenant may have changed: its readers list again. */
  tenant(tenant: string): void {
    const at = this.#now();
    const view = (principal: Principal): unknown => (principal.tenant === tenant ? { at } : null);
    this.#parts.feed.changed('resources.changed', view);
    this.#parts.feed.changed('prompts.changed', view);
  }

  /** Calls `updated` for the URI until the returned function is called. */
  watch(uri: string, updated: () => void): () => void {
    const watchers = this.#watchers.get(uri) ?? new Set();
    this.#watchers.set(uri, watchers.add(updated));
    return () => {
      watchers.delete(updated);
      if (watchers.size === 0 && this.#watchers.get(uri) === watchers) this.#watchers.delete(uri);
    };
  }

  #now(): string {
    return rfc3339(this.#parts.clock.now());
  }
}
