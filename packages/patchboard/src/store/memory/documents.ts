import { pairKey } from '../../core/pair-key.ts';
import type { DocumentChange, DocumentKind } from '../../core/documents.ts';

interface Kept {
  readonly kind: DocumentKind;
  readonly id: string;
  readonly body: string;
}

export class MemoryDocuments {
  readonly #kept: Map<string, Kept> = new Map();

  change(documents: readonly DocumentChange[]): void {
    for (const { kind, id, body } of documents) {
      if (body === null) this.#kept.delete(pairKey(kind, id));
      else this.#kept.set(pairKey(kind, id), { kind, id, body });
    }
  }

  one(kind: DocumentKind, id: string): string | undefined {
    return this.#kept.get(pairKey(kind, id))?.body;
  }

  all(kind: DocumentKind): { readonly id: string; readonly body: string }[] {
    return [...this.#kept.values()]
      .filter((document) => document.kind === kind)
      .map(({ id, body }) => ({ id, body }))
      .sort((a, b) => (a.id < b.id ? -1 : 1));
  }
}
