import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { LedgerSource } from '../../../core/search/index-source.ts';
import { indexWriterContract } from '../../index-writer.contract.ts';
import { memoryStore } from '../../memory/memory-store.ts';
import { digest } from '../../samples.contract.ts';
import { aBatch, endedCalls } from '../../search-samples.contract.ts';
import { searchContract } from '../../search.contract.ts';
import { IndexOwner } from './index-owner.ts';
import { RequestedIndex, type IndexRequest } from './index-methods.ts';

/** The index without its thread. */
function openIndex(file: string): { index: RequestedIndex; close: () => void } {
  const owner = new IndexOwner(file, () => Date.now());
  const index = new RequestedIndex(
    async (method, ...args) => owner.handle(structuredClone({ method, args }) as IndexRequest) as never,
  );
  return { index, close: () => owner.close() };
}

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'patchboard-search-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

indexWriterContract('CallIndex', async () => {
  const file = join(folder, 'search.db');
  let opened = openIndex(file);
  return {
    search: opened.index,
    writer: opened.index,
    reopen: async () => {
      opened.close();
      opened = openIndex(file);
      return { search: opened.index, writer: opened.index };
    },
    cleanup: async () => opened.close(),
  };
});

searchContract('CallIndex', async () => {
  const { index, close } = openIndex(join(folder, 'search.db'));
  const store = memoryStore({ digest });
  const source = new LedgerSource(store);
  return {
    store: Object.assign(store, { search: index }),
    index: async () => {
      for (;;) {
        const batch = await source.read(await index.position());
        if (batch === null) return;
        expect(await index.apply(batch)).toBe(true);
      }
    },
    cleanup: async () => close(),
  };
});

describe('an index file', () => {
  const count = async ({ index }: ReturnType<typeof openIndex>): Promise<number> =>
    (await index.find({ tenant: 'acme' }, { by: 'created', isAscending: true }, null, 1000)).length;

  it('is readable by its owner only', async () => {
    const file = join(folder, 'search.db');
    const opened = openIndex(file);
    await opened.index.apply(aBatch(0, endedCalls(1)));
    for (const name of [file, `${file}-wal`]) expect(statSync(name).mode & 0o777).toBe(0o600);
    opened.close();
  });

  it('is made anew if it is no database, damaged, or of another version', async () => {
    const file = join(folder, 'search.db');
    const fill = async (): Promise<void> => {
      const opened = openIndex(file);
      await opened.index.clear();
      await opened.index.apply(aBatch(0, endedCalls(400)));
      opened.close();
    };
    const damages = [
      () => writeFileSync(file, 'not a database, but long enough to have a header of its own'.repeat(100)),
      () => {
        const bytes = readFileSync(file);
        writeFileSync(file, bytes.fill(0xff, 4096, bytes.length - 4096));
      },
      () => writeFileSync(file, readFileSync(file).fill(9, 60, 64)),
      () => rmSync(file),
    ];
    for (const damage of damages) {
      await fill();
      damage();
      const opened = openIndex(file);
      expect(await count(opened)).toBe(0);
      expect(await opened.index.position()).toBe(0);
      expect(await opened.index.apply(aBatch(0, endedCalls(10)))).toBe(true);
      expect(await count(opened)).toBeGreaterThan(5);
      opened.close();
    }
  });
});
