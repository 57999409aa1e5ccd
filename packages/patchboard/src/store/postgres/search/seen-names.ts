import type { IndexBatch } from '../../../core/search/call-search.ts';
import type { NameKind, SeenName } from './batch-values.ts';

/** A name that is used is written again once in this time, so that names that are no longer used can be removed. */
export const NAME_REFRESH_MS = 86_400_000;
/** Names kept in memory; further ones are written with each batch. */
const MOST_NAMES = 20_000;

/** Remembers which names this process has written, so that a batch writes only new ones. */
export class SeenNames {
  /** When each name was seen as of its row. */
  readonly #written: Map<string, number> = new Map();

  /** Returns the names of the batch that must be written, in the order of their primary key. */
  unwritten({ calls, refusals }: Pick<IndexBatch, 'calls' | 'refusals'>): readonly SeenName[] {
    const found = new Map<string, SeenName>();
    const see = (tenant: string, kind: NameKind, name: string, seenAt: number): void => {
      const key = keyOf({ tenant, kind, name });
      if (seenAt < (this.#written.get(key) ?? -Infinity) + NAME_REFRESH_MS) return;
      if ((found.get(key)?.seenAt ?? -Infinity) < seenAt) found.set(key, { tenant, kind, name, seenAt });
    };
    for (const { tenant, toolName, agentId, code, endedAt } of calls) {
      see(tenant, 'tool', toolName, endedAt);
      see(tenant, 'agent', agentId, endedAt);
      if (code !== null) see(tenant, 'code', code, endedAt);
    }
    for (const { tenant, toolName, agentId, code, at } of refusals) {
      see(tenant, 'tool', toolName, at);
      see(tenant, 'agent', agentId, at);
      see(tenant, 'code', code, at);
    }
    return [...found].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, name]) => name);
  }

  /** Call it after the commit. */
  wrote(names: readonly SeenName[]): void {
    if (this.#written.size > MOST_NAMES) this.#written.clear();
    for (const name of names) this.#written.set(keyOf(name), name.seenAt);
  }

  forget(): void {
    this.#written.clear();
  }
}

function keyOf({ tenant, kind, name }: Omit<SeenName, 'seenAt'>): string {
  return `${kind} ${JSON.stringify([tenant, name])}`;
}
